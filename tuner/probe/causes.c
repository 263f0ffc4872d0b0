/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/alone.h"
#include "base/sys.h"
#include "tuner/probe/cause_impl.h"
#include "tuner/race/numbers.h"

#define CAUSE(name) extern const struct cause cause_##name;
#include "tuner/probe/causes.def"
#undef CAUSE

#define CAUSE(name) &cause_##name,
static const struct cause *const registry[] = {
#include "tuner/probe/causes.def"
};
#undef CAUSE
enum { CAUSES = sizeof registry / sizeof *registry };

/* A wider interval is worth more pairs. */
static const double WIDTH = 2;
/* Each cause is asked once, and once more if that left it open and there is time, with up to MORE times the pairs. Both
 * looks at the end share the error. */
enum { PASSES = 2, MORE = 4 };

/* One cause and what became of it. */
struct probe_one {
	const struct cause *cause;
	struct cause_test test;
	bool testable, found; /* found: a finding names it */
	double ran, stolen;   /* seconds of its runs, and of processors that a hypervisor took meanwhile */
	bool busy;            /* other programs have disturbed it */
	const char *from;     /* "pairs", "tune" or "record"; NULL: it was not measured */
	double ratio, ci[2];
	size_t pairs;
	const struct probe_one *unless, *instead; /* those that the test names; NULL: none */
	double figure[2];    /* what the intervention lowers, of the last run of each side; NAN: not known */
	struct duel_log log; /* its pairs */
};

struct probing {
	const struct probe_subject *subject;
	const struct probe_bench *bench;
	struct probe_one *one; /* the current one */
	double end;
	json_t *arms[2]; /* what the duel takes for configurations */
	struct cause_data data;
};

static double now_of(const struct probe_bench *bench) {
	return bench->clock.now ? bench->clock.now(bench->clock.ctx) : sys_now();
}

/* The record shows that the cause costs too little to be one. */
static void bound_take(struct probe_one *one) {
	one->from = "record";
	one->ratio = one->ci[1] = fmax(1, one->test.bound);
	one->ci[0] = one->test.otherwise = 1;
	one->test.predicted = one->test.apart = CAUSE_LEAST;
	one->test.most = INFINITY;
}

static const char *outcome_of(struct probe_one *one);

/* As things stand; its own outcome, with its reason, comes later. */
static bool is_outcome(const struct probe_one *one, const char *outcome) {
	struct probe_one copy = *one;
	return strcmp(outcome_of(&copy), outcome) == 0;
}

static const struct probe_one *one_named(const struct probe_one *ones, size_t count, const char *name) {
	for (size_t i = 0; i < count && name; i++)
		if (strcmp(ones[i].cause->name, name) == 0)
			return &ones[i];
	return NULL;
}

/* The record may bound the effect, or the finals of a tune have compared both sides already. */
static void known_take(const struct probe_subject *subject, struct probe_one *one) {
	if (one->test.bound > 0) {
		bound_take(one);
		return;
	}
	one->test.why[0] = '\0'; /* of plans that failed before this one */
	if (cause_price(subject, &one->test, &one->ratio, one->ci))
		one->from = "tune";
}

/* Those that a finding names come first. Returns how many fit the device. */
static size_t ones_plan(const struct probe_subject *subject, struct probe_one ones[CAUSES]) {
	bool on_cpu = strcmp(study_device(subject->study), "cpu") == 0;
	size_t count = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < CAUSES; i++) {
			bool found = js_named(subject->findings, registry[i]->name);
			if (on_cpu != (strcmp(registry[i]->device, "cpu") == 0) || found != (pass == 0))
				continue;
			struct probe_one *one = &ones[count++];
			*one = (struct probe_one){
				.cause = registry[i], .found = found, .ratio = NAN, .ci = {NAN, NAN}, .figure = {NAN, NAN}};
			one->test = (struct cause_test){.work = 1, .predicted = NAN, .otherwise = NAN};
			one->testable = one->cause->plan(subject, &one->test);
			if (one->testable)
				known_take(subject, one);
		}
	for (size_t i = 0; i < count; i++) {
		ones[i].unless = one_named(ones, count, ones[i].test.unless);
		ones[i].instead = one_named(ones, count, ones[i].test.instead);
	}
	return count;
}

/* Times what its first side takes. */
static double pair_of(const struct probe_one *one) {
	return 1 + fmax(one->test.longer, 1 / (one->test.predicted > 0 ? one->test.predicted : 1));
}

static double rank_of(const struct probe_one *one) {
	if (isnan(one->test.predicted))
		return one->found;
	return one->found ? INFINITY : one->test.longer > 0 ? 1 : fmax(1, one->test.predicted);
}

/* The largest gain that is predicted comes first, and a cause that a finding names before all others. Of those without
 * a gain the shortest do, because what they do not use is there for the others. */
static bool is_before(const struct probe_one *a, const struct probe_one *b) {
	return rank_of(a) != rank_of(b) ? rank_of(a) > rank_of(b) : pair_of(a) < pair_of(b);
}

static void order_make(const struct probe_one *ones, size_t count, size_t order[CAUSES]) {
	for (size_t i = 0; i < count; i++) {
		size_t at = i;
		for (; at && is_before(&ones[i], &ones[order[at - 1]]); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* The times of the second side are divided by its work and multiplied by the ratio that separates a cause from its
 * absence: then the question of the duel, which side is faster, is the question whether it is the cause. */
static double scale_of(const struct cause_test *test, int side) {
	return side ? test->apart / test->work : 1;
}

/* Has the intervention reached the program, as far as is known? */
static bool is_reached(const struct probe_one *one) {
	static const double FALLS = 0.9;
	return !(one->figure[1] >= FALLS * one->figure[0]);
}

static int arm_run(void *ctx, const struct trial_request *asked, struct trial_result *result, struct err *err) {
	struct probing *probing = ctx;
	const struct probe_bench *bench = probing->bench;
	const struct cause_test *test = &probing->one->test;
	int side = json_equal(asked->config, probing->arms[1]);
	double scale = scale_of(test, side);
	struct trial_request request = *asked;
	if (bench->begin && bench->begin(bench->ctx, probing->one->cause->name, probing->end - now_of(bench), err))
		return -1;
	request.problem = test->problem[side];
	request.config = test->config[side];
	request.limit_s = 0;
	if (cause_run(probing->subject, bench, test, &probing->data, side, &request, result, err))
		return -1;
	if (test->lowers)
		probing->one->figure[side] = js_real_or(json_object_get(result->reply, "usage"), test->lowers, NAN);
	if (bench->in_seconds && result->status == TRIAL_CORRECT) {
		probing->one->ran += result->value;
		probing->one->stolen += js_real_or(json_object_get(result->reply, "noise"), "steal_s", 0);
	}
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] *= scale;
	result->value *= scale;
	result->least *= scale;
	if (!is_reached(probing->one))
		return err_set(err, ERR_NOTHING, NULL, "the program does not follow it: %s stay as they are", test->lowers);
	if (result->status != TRIAL_CORRECT && now_of(bench) < probing->end)
		cause_untestable(&probing->one->test, "%s %s%s%.80s", side ? "the intervention" : "the setting",
		                 trial_status_text(result->status), *result->message ? ": " : "", result->message);
	return 0;
}

static void duel_take(struct probe_one *one, const struct duel_result *duel) {
	const struct paired *paired = &duel->paired;
	if (duel->lost[0] || duel->lost[1]) {
		if (!*one->test.why)
			cause_untestable(&one->test, "one side does not work");
		return;
	}
	if (paired->count < RACE_PAIRS_LEAST)
		return;
	if (one->test.quiet && one->busy) {
		cause_untestable(&one->test, "others take processors from its team");
		return;
	}
	one->from = "pairs";
	one->pairs = paired->count;
	one->ratio = paired->ratio * one->test.apart;
	for (size_t i = 0; i < 2; i++)
		one->ci[i] = paired->ci[i] * one->test.apart;
}

static bool is_same(const struct cause_test *a, const struct cause_test *b) {
	return a->confined == b->confined && a->cores == b->cores && a->beside == b->beside &&
	       json_equal(a->problem[1], b->problem[1]) && json_equal(a->config[0], b->config[0]) &&
	       json_equal(a->config[1], b->config[1]);
}

static void pairs_take(struct probe_one *one, const struct probe_one *other, double scale) {
	one->from = other->from;
	one->pairs = other->pairs;
	one->ratio = other->ratio * scale;
	for (int i = 0; i < 2; i++)
		one->ci[i] = other->ci[i] * scale;
}

/* Its pairs may go on from those of the other. */
static void log_take(const struct probing *probing, struct probe_one *one, const struct probe_one *other) {
	struct duel_log *log = &one->log;
	double scale = scale_of(&one->test, 1) / scale_of(&other->test, 1);
	duel_log_clear(log);
	*log = other->log;
	log->trials = mem_alloc(log->room + 1, sizeof *log->trials);
	for (size_t i = 0; i < log->count; i++) {
		log->trials[i] = other->log.trials[i];
		log->trials[i].seconds *= json_equal(log->trials[i].config, probing->arms[1]) ? scale : 1;
		json_incref(log->trials[i].config);
	}
}

/* The same experiment for another cause, which has made more pairs of it. */
static bool same_take(const struct probing *probing, const struct probe_one *ones, size_t count) {
	struct probe_one *one = probing->one;
	const struct probe_one *other = ones;
	while (other < ones + count && !(other->pairs > one->pairs && is_same(&other->test, &one->test)))
		other++;
	if (other == ones + count)
		return false;
	pairs_take(one, other, one->test.work / other->test.work);
	log_take(probing, one, other);
	return true;
}

/* The pairs that confirm a cause refute one which it leaves no room for. */
static bool instead_take(struct probe_one *one) {
	const struct probe_one *other = one->instead;
	if (!other || !other->from || !is_outcome(other, "confirmed"))
		return false;
	memcpy(one->test.intervention, other->test.intervention, sizeof one->test.intervention);
	one->test.predicted = other->test.otherwise;
	one->test.otherwise = other->test.predicted;
	one->test.apart = other->test.apart;
	one->test.nothing = 0;
	pairs_take(one, other, 1);
	return true;
}

/* A team on all processors waits for its slowest thread, so that it loses what is taken from any of them. `was`: the
 * watch before it. */
static bool is_disturbed(const struct probe_one *one, const struct race_watch *watch, const struct race_watch *was) {
	static const double STOLEN = 0.25; /* processors */
	struct race_watch own = {.blocks = watch ? watch->blocks - was->blocks : 0,
	                         .disturbed = watch ? watch->disturbed - was->disturbed : 0};
	return race_watch_is_busy(&own) || one->stolen > STOLEN * one->ran;
}

static int one_measure(struct probing *probing, double seconds, int pass, struct err *err) {
	const struct probe_bench *bench = probing->bench;
	struct probe_one *one = probing->one;
	struct duel_options options = duel_defaults;
	struct duel_result duel = {0};
	if (!cause_prepare(probing->subject, bench, &one->test, &probing->data))
		return 0;
	double now = now_of(bench);
	struct race_watch was = bench->watch ? *bench->watch : (struct race_watch){0};
	options.pairs_first = RACE_PAIRS_LEAST;
	options.pairs_min = RACE_PAIRS_OF_CHANGE_MAX * (pass ? MORE : 1);
	options.pairs_max = options.pairs_min + PASSES - 1;
	options.log = &one->log;
	options.width = WIDTH;
	options.seconds_max = 0;
	options.seed = bench->seed;
	options.phase = "probe";
	options.watch = bench->watch;
	options.clock = bench->clock;
	options.clock.end = now + seconds;
	options.clock.cut = fmax(now + seconds, probing->end);
	const struct runner runner = {.ctx = probing, .run = arm_run};
	struct runner own = runner;
	int failed = duel_run(&own, &bench->request, probing->arms[0], probing->arms[1], &options, NULL, &duel, err);
	one->busy = is_disturbed(one, bench->watch, &was);
	if (!failed)
		duel_take(one, &duel);
	duel_result_clear(&duel);
	if (!failed || err->code != ERR_NOTHING)
		return failed;
	if (!*one->test.why)
		cause_untestable(&one->test, "%.140s", err->what);
	*err = (struct err){0};
	return 0;
}

/* A ratio of at most 1 may have another explanation. Is that one still open? */
static bool is_open(struct probe_one *one) {
	if (!one->test.unless || one->ci[0] > 1)
		return false;
	if (one->unless && is_outcome(one->unless, "refuted"))
		return false;
	return !cause_untestable(&one->test, "%.3gx [%.3g, %.3g] may be the memory's bandwidth, too", one->ratio,
	                         one->ci[0], one->ci[1]);
}

/* Do the pairs not decide, although they lie on one side of the ratio that separates both? */
static bool is_undecidable(struct probe_one *one) {
	struct cause_test *test = &one->test;
	if (one->ratio < test->least)
		return !cause_untestable(test, "%.3gx is less than that of threads which do not wait for each other",
		                         one->ratio);
	if (one->ci[0] > test->most && test->beyond)
		return !cause_untestable(test, "%s", test->beyond);
	if (test->nothing > 0 && one->ci[0] <= test->apart && one->ci[1] >= test->nothing)
		return !cause_untestable(test, "%.3gx [%.3g, %.3g] has other explanations", one->ratio, one->ci[0], one->ci[1]);
	return false;
}

/* A ratio that its absence predicts refutes the cause, and so does one that it cannot explain alone. */
static const char *outcome_of(struct probe_one *one) {
	const struct cause_test *test = &one->test;
	bool slower = !(test->predicted <= test->otherwise), above = one->ci[0] > test->apart,
		 below = one->ci[1] < test->apart;
	if (!one->from && !*test->why)
		cause_untestable(&one->test, "its share of the budget is too short for %d pairs: raise --budget",
		                 RACE_PAIRS_LEAST);
	if (!one->from || is_undecidable(one))
		return "not testable";
	if (one->ci[0] > test->most)
		return "refuted";
	if ((slower ? above : below) && one->ratio <= test->most)
		return is_open(one) ? "not testable" : isnan(test->predicted) ? "measured" : "confirmed";
	if (slower ? below : above)
		return "refuted";
	cause_untestable(&one->test,
	                 "%.3gx [%.3g, %.3g] may lie on either side of %.3gx, which would decide: raise --budget",
	                 one->ratio, one->ci[0], one->ci[1], test->apart);
	return "not testable";
}

static json_t *one_json(struct probe_one *one) {
	const char *outcome = outcome_of(one);
	json_t *json =
		json_pack("{s:s,s:s?,s:o,s:o,s:o,s:o,s:s}", "cause", one->cause->name, "intervention",
	              *one->test.intervention ? one->test.intervention : NULL, "predicted", js_number(one->test.predicted),
	              "otherwise", js_number(one->test.otherwise), "measured", js_number(one->ratio), "ci",
	              one->from ? js_reals(one->ci, 2) : json_null(), "outcome", outcome);
	if (strcmp(outcome, "not testable") == 0 || one->test.bound > 0)
		json_object_set_new(json, "reason", js_text(one->test.why));
	if (one->from)
		json_object_set_new(json, "from", json_string(one->from));
	if (one->pairs)
		json_object_set_new(json, "pairs", json_integer((json_int_t)one->pairs));
	return json;
}

/* Each gets an equal share of the time that is left, or what the least number of pairs takes if that is more. What one
 * does not use is there for the others. */
static double share_of(const struct probing *probing, double left, size_t open) {
	static const double SPARE = 1.5, START = 0.03; /* START: seconds that a trial takes beside its run */
	double each = 2 * START + probing->one->test.seconds * pair_of(probing->one);
	double least = probing->bench->in_seconds ? SPARE * RACE_PAIRS_LEAST * each : 0;
	return fmin(left, fmax(left / (double)open, least));
}

static void one_take(struct probing *probing, size_t open, int pass, struct err *err) {
	struct probe_one *one = probing->one;
	double left = probing->end - now_of(probing->bench);
	if (!probing->bench->runner.run)
		cause_untestable(&one->test, "%.140s", probing->bench->why);
	else if (left <= 0)
		cause_untestable(&one->test, "the budget is used up: raise --budget");
	else if (err->code || one_measure(probing, share_of(probing, left, open), pass, err))
		cause_untestable(&one->test, "%s%.140s", err->code == ERR_INTERRUPTED ? "it was " : "", err->what);
}

/* Are pairs wanted: the first ones, or more because these do not decide? What lies between a cause and its absence has
 * other explanations, which more pairs do not remove. */
static bool is_asked(const struct probe_one *one) {
	const struct cause_test *test = &one->test;
	if (!one->testable || !one->from)
		return one->testable && !*test->why;
	if (test->nothing > 0 && one->ratio > test->nothing && one->ratio < test->apart)
		return false;
	return strcmp(one->from, "record") != 0 && one->ci[0] <= test->apart &&
	       one->ci[1] >= (test->nothing > 0 ? test->nothing : test->apart);
}

static void pass_measure(struct probing *probing, struct probe_one *ones, size_t count, const size_t *order, int pass,
                         struct err *err) {
	size_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += is_asked(&ones[i]);
	for (size_t i = 0; i < count; i++) {
		struct probe_one *one = probing->one = &ones[order[i]];
		bool asked = is_asked(one);
		open -= asked;
		if (asked && !instead_take(one) && !same_take(probing, ones, count))
			one_take(probing, open + 1, pass, err);
	}
}

static void ones_measure(struct probing *probing, struct probe_one *ones, size_t count, struct err *err) {
	size_t order[CAUSES];
	order_make(ones, count, order);
	for (int pass = 0; pass < PASSES; pass++)
		pass_measure(probing, ones, count, order, pass, err);
}

/* New reference, or NULL. */
static json_t *regions_look(const struct probe_subject *subject, const struct probe_bench *bench) {
	size_t row = cause_row_today(subject);
	if (subject->regions || !bench->regions || !bench->runner.run || row == SIZE_MAX)
		return json_incref((json_t *)subject->regions);
	return bench->regions(bench->ctx, study_row(subject->study, row)->problem, study_row(subject->study, row)->config);
}

/* The program as it is. */
struct looked {
	const struct probe_bench *bench;
	const struct study_row *row;
};

static bool looked_run(void *ctx) {
	const struct looked *looked = ctx;
	const struct probe_bench *bench = looked->bench;
	struct trial_request request = bench->request;
	struct trial_result result = {0};
	struct err err = {0};
	request.problem = looked->row->problem;
	request.config = looked->row->config;
	request.timeout_s = fmin(request.timeout_s, bench->seconds);
	bool done = bench->runner.run(bench->runner.ctx, &request, &result, &err) == 0;
	trial_result_clear(&result);
	return done;
}

/* Where its regions are not known; what runs elsewhere is not seen. */
static void alone_take(const struct probe_subject *subject, const struct probe_bench *bench, double alone[2]) {
	static const double SECONDS = 0.25;
	enum { RUNS = 4 };
	size_t row = cause_row_today(subject);
	alone[0] = subject->alone ? subject->alone[0] : NAN;
	alone[1] = subject->alone ? subject->alone[1] : NAN;
	if (subject->alone || !subject->program || !bench->own || !bench->runner.run || row == SIZE_MAX ||
	    json_is_number(json_object_get(subject->regions, "time")))
		return;
	struct looked looked = {bench, study_row(subject->study, row)};
	alone[0] = alone_share(looked_run, &looked, SECONDS, RUNS, cause_fewer(cause_members(subject, row)), &alone[1]);
}

json_t *probe_causes(const struct probe_subject *asked, const struct probe_bench *bench, struct err *err) {
	struct probe_one ones[CAUSES];
	struct probe_subject own = *asked, *subject = &own;
	double end = now_of(bench) + bench->seconds;
	js_auto json_t *regions = regions_look(asked, bench);
	own.regions = regions;
	double alone[2];
	alone_take(&own, bench, alone);
	own.alone = alone;
	struct probing probing = {.subject = subject,
	                          .bench = bench,
	                          .end = end,
	                          .arms = {json_pack("{s:i}", "arm", 0), json_pack("{s:i}", "arm", 1)}};
	size_t count = ones_plan(subject, ones);
	json_t *list = json_array();
	ones_measure(&probing, ones, count, err);
	for (size_t i = 0; i < count; i++) {
		json_array_append_new(list, one_json(&ones[i]));
		duel_log_clear(&ones[i].log);
		for (int side = 0; side < 2; side++) {
			json_decref(ones[i].test.problem[side]);
			json_decref(ones[i].test.config[side]);
		}
	}
	if (probing.data.numbers)
		munmap(probing.data.numbers, probing.data.bytes);
	json_decref(probing.arms[0]);
	json_decref(probing.arms[1]);
	return list;
}
