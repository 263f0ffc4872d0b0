/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json/js.h"
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

/* A wider interval is worth RACE_PAIRS_MIN pairs. */
static const double WIDTH = 1.3;

/* One cause and what became of it. */
struct probe_one {
	const struct cause *cause;
	struct cause_test test;
	bool testable, found; /* found: a finding names it */
	const char *from;     /* "pairs" or "tune"; NULL: it was not measured */
	double ratio, ci[2];
	size_t pairs;
};

struct probing {
	const struct probe_subject *subject;
	const struct probe_bench *bench;
	struct probe_one *one; /* the current one */
	double end;
	json_t *arms[2]; /* what the duel takes for configurations */
	uint64_t *data;  /* that processes beside the trials read, or NULL */
	size_t bytes;
};

static double now_of(const struct probe_bench *bench) {
	return bench->clock.now ? bench->clock.now(bench->clock.ctx) : sys_now();
}

static bool is_found(const struct probe_subject *subject, const char *cause) {
	js_each (finding, subject->findings)
		if (strcmp(js_string_or(finding, "name", ""), cause) == 0)
			return true;
	return false;
}

/* Those that a finding names come first. Returns how many fit the device. */
static size_t ones_plan(const struct probe_subject *subject, struct probe_one ones[CAUSES]) {
	bool on_cpu = strcmp(study_device(subject->study), "cpu") == 0;
	size_t count = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < CAUSES; i++) {
			bool found = is_found(subject, registry[i]->name);
			if (on_cpu != (strcmp(registry[i]->device, "cpu") == 0) || found != (pass == 0))
				continue;
			struct probe_one *one = &ones[count++];
			*one = (struct probe_one){.cause = registry[i], .found = found, .ratio = NAN, .ci = {NAN, NAN}};
			one->test = (struct cause_test){.work = 1, .predicted = NAN, .otherwise = NAN};
			one->testable = one->cause->plan(subject, &one->test);
		}
	return count;
}

static void tune_take(struct probe_one *one, double ratio, const json_t *ci) {
	double low = json_number_value(json_array_get(ci, 0)), high = json_number_value(json_array_get(ci, 1));
	if (!(ratio > 0 && low > 0 && high >= low && high < 1e6))
		return;
	one->from = "tune";
	one->ratio = ratio;
	one->ci[0] = low;
	one->ci[1] = high;
}

/* The finals of a tune have compared both values in pairs, beside each other: as the price of a change, or as the
 * effect of one that did not pay. */
static void tune_read(const struct probe_subject *subject, struct probe_one *one) {
	const char *param = one->test.param;
	const json_t *bad = json_object_get(one->test.config[0], param ? param : ""),
				 *good = json_object_get(one->test.config[1], param ? param : "");
	if (!param || !json_equal(bad, json_object_get(js_at(subject->tune, "baseline.config"), param)))
		return;
	js_each (price, json_object_get(subject->tune, "worth"))
		if (strcmp(js_string_or(price, "param", ""), param) == 0 && json_equal(json_object_get(price, "value"), good))
			tune_take(one, js_real_or(price, "ratio", NAN), json_object_get(price, "ci"));
	js_each (effect, json_object_get(subject->tune, "effects")) {
		const json_t *best = json_object_get(effect, "best"), *worst = json_object_get(effect, "worst");
		double ratio = js_real_or(effect, "ratio", NAN), ci[2] = {NAN, NAN};
		if (strcmp(js_string_or(effect, "param", ""), param) != 0 || one->from ||
		    !json_array_size(json_object_get(effect, "ci")))
			continue;
		for (size_t i = 0; i < 2; i++)
			ci[i] = json_number_value(json_array_get(json_object_get(effect, "ci"), i));
		js_auto json_t *inverse = json_pack("[o,o]", js_number(1 / ci[1]), js_number(1 / ci[0]));
		if (json_equal(worst, bad) && json_equal(best, good))
			tune_take(one, ratio, json_object_get(effect, "ci"));
		else if (json_equal(worst, good) && json_equal(best, bad))
			tune_take(one, 1 / ratio, inverse);
	}
}

/* The times of the second side are divided by its work and multiplied by the ratio that separates a cause from its
 * absence: then the question of the duel, which side is faster, is the question whether it is the cause. */
static double scale_of(const struct cause_test *test, int side) {
	return side ? test->apart / test->work : 1;
}

/* Processes that run beside a trial. All do the same: they add numbers, of a first-level cache or of memory. */
enum { BESIDE_MOST = 64, CACHED_BYTES = 16 << 10 };
static const double READ_LEAST = 128 << 20, READ_MOST = 1 << 30; /* bytes */
struct beside {
	pid_t pids[BESIDE_MOST];
	size_t count;
};

_Noreturn static void beside_add(const uint64_t *data, size_t bytes, size_t first, pid_t parent) {
	volatile uint64_t kept;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	for (size_t at = first;; at = 0) {
		uint64_t sum = 0;
		for (; at < bytes / sizeof *data; at++)
			sum += data[at];
		kept = sum;
		(void)kept;
	}
}

static void beside_start(const struct probing *probing, bool read, struct beside *beside) {
	pid_t own = getpid();
	size_t bytes = read ? probing->bytes : CACHED_BYTES, most = probing->one->test.beside;
	for (size_t i = 0; i < most && i < BESIDE_MOST && probing->data; i++) {
		pid_t pid = fork();
		if (pid == 0)
			beside_add(probing->data, bytes, i * bytes / most / sizeof *probing->data, own);
		if (pid > 0)
			beside->pids[beside->count++] = pid;
	}
}

static void beside_stop(struct beside *beside) {
	while (beside->count) {
		kill(beside->pids[--beside->count], SIGKILL);
		waitpid(beside->pids[beside->count], NULL, 0);
	}
}

/* What they read: at least four times the caches. False: there is no memory for it. */
static bool beside_open(struct probing *probing) {
	double bytes = fmin(READ_MOST, fmax(READ_LEAST, 4 * fmax(0, study_cache(probing->subject->study))));
	void *data = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	probing->data = data == MAP_FAILED ? NULL : data;
	probing->bytes = (size_t)bytes;
	return probing->data;
}

static int arm_run(void *ctx, const struct trial_request *asked, struct trial_result *result, struct err *err) {
	const struct probing *probing = ctx;
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
	struct beside beside = {0};
	beside_start(probing, side, &beside);
	int failed = bench->runner.run(bench->runner.ctx, &request, result, err);
	beside_stop(&beside);
	if (failed)
		return -1;
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] *= scale;
	result->value *= scale;
	result->least *= scale;
	if (result->status != TRIAL_CORRECT)
		cause_untestable(&probing->one->test, "%s %s%s%.80s", side ? "the intervention" : "the setting",
		                 trial_status_text(result->status), *result->message ? ": " : "", result->message);
	return 0;
}

static bool complete(const struct probing *probing, struct cause_test *test) {
	const struct probe_bench *bench = probing->bench;
	struct err why = {0};
	for (int side = 0; side < 2 && bench->complete; side++) {
		json_t *config = bench->complete(bench->ctx, test->problem[side], test->config[side], &why);
		if (!config)
			return cause_untestable(test, "%.140s", why.what);
		json_decref(test->config[side]);
		test->config[side] = config;
	}
	return true;
}

static void duel_take(struct probe_one *one, const struct duel_result *duel) {
	const struct paired *paired = &duel->paired;
	if (duel->lost[0] || duel->lost[1]) {
		if (!*one->test.why)
			cause_untestable(&one->test, "one side does not work");
		return;
	}
	if (paired->count < RACE_PAIRS_LEAST) {
		cause_untestable(&one->test, "its share of the budget is too short for %d pairs: raise --budget",
		                 RACE_PAIRS_LEAST);
		return;
	}
	one->from = "pairs";
	one->pairs = paired->count;
	one->ratio = paired->ratio * one->test.apart;
	for (size_t i = 0; i < 2; i++)
		one->ci[i] = paired->ci[i] * one->test.apart;
}

static int one_measure(struct probing *probing, double seconds, struct err *err) {
	const struct probe_bench *bench = probing->bench;
	struct probe_one *one = probing->one;
	double now = now_of(bench);
	struct duel_options options = duel_defaults;
	struct duel_result duel = {0};
	if (!complete(probing, &one->test))
		return 0;
	if (one->test.beside && (!bench->own || (!probing->data && !beside_open(probing)))) {
		cause_untestable(&one->test, "%s",
		                 bench->own ? "no memory is left for a process beside it"
		                            : "nothing can run beside it on its machine");
		return 0;
	}
	options.pairs_first = RACE_PAIRS_LEAST;
	options.pairs_max = RACE_PAIRS_OF_CHANGE_MAX;
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
	if (!failed)
		duel_take(one, &duel);
	duel_result_clear(&duel);
	if (!failed || err->code != ERR_NOTHING)
		return failed;
	*err = (struct err){0};
	if (!*one->test.why)
		cause_untestable(&one->test, "the budget is too short for it: raise --budget");
	return 0;
}

/* A ratio that its absence predicts refutes the cause, and so does one that it cannot explain alone. */
static const char *outcome_of(struct probe_one *one) {
	const struct cause_test *test = &one->test;
	bool slower = test->predicted > test->otherwise;
	if (!one->from)
		return "not testable";
	if (one->ci[0] > test->most)
		return "refuted";
	if ((slower ? one->ci[0] > test->apart : one->ci[1] < test->apart) && one->ratio <= test->most)
		return "confirmed";
	if (slower ? one->ci[1] < test->apart : one->ci[0] > test->apart)
		return "refuted";
	cause_untestable(&one->test,
	                 "%.3gx [%.3g, %.3g] may lie on either side of %.2gx, which would decide: raise --budget",
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
	if (strcmp(outcome, "not testable") == 0)
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
	static const double SPARE = 1.2;
	double each = probing->one->test.seconds * (1 + 1 / probing->one->test.predicted);
	double least = probing->bench->in_seconds ? SPARE * RACE_PAIRS_LEAST * each : 0;
	return fmin(left, fmax(left / (double)open, least));
}

static void ones_measure(struct probing *probing, struct probe_one *ones, size_t count, struct err *err) {
	size_t open = 0;
	for (size_t i = 0; i < count; i++)
		open += ones[i].testable && !ones[i].from;
	for (size_t i = 0; i < count; i++) {
		double left = probing->end - now_of(probing->bench);
		probing->one = &ones[i];
		if (!ones[i].testable || ones[i].from)
			continue;
		if (!probing->bench->runner.run)
			cause_untestable(&ones[i].test, "%.140s", probing->bench->why);
		else if (left <= 0)
			cause_untestable(&ones[i].test, "the budget is used up: raise --budget");
		else if (err->code || one_measure(probing, share_of(probing, left, open), err))
			cause_untestable(&ones[i].test, "%s%.140s", err->code == ERR_INTERRUPTED ? "it was " : "", err->what);
		open--;
	}
}

json_t *probe_causes(const struct probe_subject *subject, const struct probe_bench *bench, struct err *err) {
	struct probe_one ones[CAUSES];
	struct probing probing = {.subject = subject,
	                          .bench = bench,
	                          .end = now_of(bench) + bench->seconds,
	                          .arms = {json_pack("{s:i}", "arm", 0), json_pack("{s:i}", "arm", 1)}};
	size_t count = ones_plan(subject, ones);
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		if (ones[i].testable)
			tune_read(subject, &ones[i]);
	ones_measure(&probing, ones, count, err);
	for (size_t i = 0; i < count; i++) {
		json_array_append_new(list, one_json(&ones[i]));
		for (int side = 0; side < 2; side++) {
			json_decref(ones[i].test.problem[side]);
			json_decref(ones[i].test.config[side]);
		}
	}
	if (probing.data)
		munmap(probing.data, probing.bytes);
	json_decref(probing.arms[0]);
	json_decref(probing.arms[1]);
	return list;
}
