/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on a simulated program that reports times without spending them: how often a program is run, the
 * limits of budgets, metrics to maximise, and failures. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/store/fixture.h"
#include "tests/tuner/space/help.h"
#include "tuner/tune/tune.h"

enum { REPORTS_MAX = 4096 };

struct program {
	double seconds; /* time of a run at block 64 */
	bool rate;      /* reports 1/rate: 1000 at block 64 */
	int crashing;   /* this block fails */
	bool all_crash;
	struct rng rng;
	/* observed */
	int runs, samples_max, warmups, batches;
	double timeout_max, timeout_last;
	double clock;   /* simulated: the seconds of all runs */
	char said[256]; /* the last warning */
	int hanging;    /* this block never ends */
	bool hinted;    /* the machine suggests 32, then 64 */
	int values;     /* of the parameter, whose default are 7 */
	uint64_t seed;  /* 0: 3 */
	/* what was reported */
	double at[REPORTS_MAX], left[REPORTS_MAX], found_at, found_gain;
	int reports, found, found_block;
	double today; /* seconds of a run of the baseline; 0: as of any other */
	int whole;    /* its runs that ended */
};

static double slowness(const struct trial_request *request) {
	double block = (double)js_int_or(request->config, "block", 64);
	return 1 + fabs(log2(block / 64)) / 4;
}

static bool is_today(const struct trial_request *request) {
	return js_int_or(request->config, "block", 64) == 16;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	double slow = is_today(request) && p->today > 0 ? p->today / p->seconds : slowness(request),
		   value = p->rate ? slow / 1000 : slow * p->seconds;
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = NAN, .elapsed_s = request->samples * slow * p->seconds};
	p->runs += request->samples;
	p->samples_max = request->samples > p->samples_max ? request->samples : p->samples_max;
	p->warmups += request->warmup;
	p->batches += !request->whole_program;
	p->timeout_max = fmax(p->timeout_max, request->timeout_s);
	p->timeout_last = request->timeout_s;
	if (js_int_or(request->config, "block", 64) == p->hanging && request->cut_s > 0 &&
	    request->cut_s < request->timeout_s) {
		result->status = TRIAL_CENSORED;
		result->value = request->limit_s;
		p->clock += result->elapsed_s = request->cut_s;
		return 0;
	}
	if (js_int_or(request->config, "block", 64) == p->hanging || slow * p->seconds > request->timeout_s) {
		result->status = TRIAL_TIMEOUT;
		result->elapsed_s = request->timeout_s;
		p->clock += request->timeout_s;
		return 0;
	}
	if (!p->rate && request->limit_s >= 1 &&
	    value > request->limit_s) { /* as tuner/program/program_trial.c has it cut */
		result->status = TRIAL_CENSORED;
		result->value = result->elapsed_s = request->limit_s;
	}
	p->clock += result->elapsed_s;
	if (result->status == TRIAL_CENSORED)
		return 0;
	if (p->all_crash || js_int_or(request->config, "block", 64) == p->crashing) {
		result->status = TRIAL_RUNTIME;
		snprintf(result->message, sizeof result->message, "exit status 1");
		return 0;
	}
	json_t *walls = json_array();
	result->samples = mem_alloc((size_t)request->samples, sizeof *result->samples);
	for (int i = 0; i < request->samples; i++) {
		result->samples[i] = value * exp(0.002 * rng_normal(&p->rng));
		json_array_append_new(walls, json_real(slow * p->seconds));
	}
	result->sample_count = (size_t)request->samples;
	result->value = result->least = result->samples[0];
	result->reply = json_pack("{s:o,s:[]}", "samples", walls, "evidence");
	p->whole += is_today(request);
	return 0;
}

static void annotate(void *ctx, json_t *result) {
	json_object_set_new(result, "annotated", json_string(ctx));
}

static double now(void *ctx) {
	return ((struct program *)ctx)->clock;
}

static void warn(void *ctx, const char *text) {
	snprintf(((struct program *)ctx)->said, sizeof((struct program *)ctx)->said, "%s", text);
}

static void progress(void *ctx, const struct tune_progress *progress) {
	struct program *p = ctx;
	if (p->reports == REPORTS_MAX)
		return;
	p->at[p->reports] = p->clock;
	p->left[p->reports++] = progress->left;
}

static void found(void *ctx, const json_t *config, const json_t *baseline, double gain) {
	struct program *p = ctx;
	(void)baseline;
	p->found++;
	p->found_at = p->clock;
	p->found_gain = gain;
	p->found_block = (int)js_int_or(config, "block", -1);
}

/* Returns NULL if tune_run does. */
static json_t *tune(struct program *p, struct tune_budget budget, struct err *err) {
	char *path = fixture_path("tune.db");
	struct store *store = fixture_open(path);
	struct space *space = space_new();
	struct runner runner = {.ctx = p, .run = run};
	json_t *problem = json_pack("{s:s}", "command", "./app '{block}'"), *baseline = json_pack("{s:i}", "block", 16);
	json_t *result = NULL;
	add_param(space, "block", p->values ? "16..400+1" : "16..1024*2", NULL);
	built(space);
	rng_seed(&p->rng, 5);
	struct tune_task task = {.kernel = "app",
	                         .source = "sha256:0",
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .start = UINT64_MAX,
	                         .whole_programs = true,
	                         .goal.metric = p->rate ? "rate ([0-9]+)" : NULL,
	                         .goal.maximize = p->rate,
	                         .strategy = strategy_find("auto"),
	                         .seed = p->seed ? p->seed : 3,
	                         .budget = budget,
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.annotate = annotate,
	                         .hooks.annotate_ctx = "yes",
	                         .hooks.now = now,
	                         .hooks.now_ctx = p};
	const struct tune_observer observer = {.ctx = p, .warn = warn, .progress = progress, .found = found};
	const uint64_t hints[] = {1, 2}; /* the values in order, 16 being the first */
	task.prior.hints = hints;
	task.prior.hint_count = p->hinted ? 2 : 0;
	if (space_config_read(space, baseline, NULL, &task.start, err) || tune_run(&task, &observer, &result, err))
		printf("# %s\n", err->what);
	json_decref(problem);
	json_decref(baseline);
	space_free(space);
	store_close(store);
	free(path);
	return result;
}

static int best_block(const json_t *result) {
	return (int)js_int_or(json_object_get(json_object_get(result, "best"), "config"), "block", -1);
}

static void short_program(void) {
	struct program p = {.seconds = 0.005};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.evaluations = 7}, &err);
	ok(best_block(result) == 64, "the best block is found");
	ok(p.samples_max == 5, "a short program is run several times a trial");
	ok(p.warmups == 0 && p.batches == 0, "whole programs are neither warmed up nor batched");
	ok(js_int_or(result, "pairs", 0) == 5, "a ratio of 1.5 is clear after 5 pairs: %lld",
	   (long long)js_int_or(result, "pairs", 0));
	is_text(js_string_or(result, "verdict", ""), "faster", "a ratio of 1.5 is called faster");
	is_text(js_string_or(result, "annotated", ""), "yes", "the result can be added to");
	ok(p.timeout_last == 1, "a hang of a short program costs a second: %g", p.timeout_last);
	json_decref(result);
}

static void long_program(void) {
	struct program p = {.seconds = 30};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.seconds = 600}, &err);
	ok(p.samples_max == 1, "a long program is run once a trial");
	ok(js_int_or(result, "pairs", 0) == 3, "a ratio of 1.5 is clear after 3 pairs of long runs: %lld",
	   (long long)js_int_or(result, "pairs", 0));
	is_text(js_string_or(result, "verdict", ""), "faster", "a ratio of 1.5 with 3 pairs is proven");
	ok(p.clock <= 600 * 1.05, "the budget of 600 s holds: %g s", p.clock);
	is_text(p.said, "", "no word is said of a budget that is long enough");
	ok(p.timeout_max <= 3600, "no run may take longer than an hour");
	double baseline = 30 * (1 + log2(64.0 / 16) / 4);
	ok(p.timeout_last <= 5.1 * baseline, "a hang is cut at 5 baselines, or where the budget ends: %g s",
	   p.timeout_last);
	json_decref(result);
	struct program again = {.seconds = 30};
	result = tune(&again, (struct tune_budget){.seconds = 60, .may_grow = true}, &err);
	ok(again.clock > 60 && again.clock <= 4500 * 1.05, "a default budget grows with the program: %g s", again.clock);
	is_text(js_string_or(result, "verdict", ""), "faster", "a default budget is enough for a proof");
	json_decref(result);
}

/* The share of the reports after the first tenth whose time left is right within 20 %, or within 3 % of the whole time,
 * because the last seconds are few. */
static double right(const struct program *p) {
	int good = 0, all = 0;
	for (int i = 0; i < p->reports; i++) {
		double left = p->clock - p->at[i];
		if (p->at[i] < 0.1 * p->clock)
			continue;
		bool near = fabs(p->left[i] - left) <= fmax(0.2 * left, 0.03 * p->clock);
		all++;
		good += near;
		if (!near)
			printf("# at %.4g of %.4g s: left %.4g, said %.4g\n", p->at[i], p->clock, left, p->left[i]);
	}
	return all ? (double)good / all : 0;
}

enum { SEEDS = 5 };

static void time_left(void) {
	static const struct {
		double seconds;
		struct tune_budget budget;
		bool wide;
		double right; /* of all seeds; with seven values the first tenth is one evaluation, which tells little */
	} cases[] = {{0.5, {.evaluations = 7}, false, 0.7},  {2, {.seconds = 300}, false, 0.7},
	             {2, {.seconds = 120}, true, 0.9},       {0.1, {.seconds = 60}, true, 0.9},
	             {0.05, {.evaluations = 60}, true, 0.9}, {20, {.seconds = 900}, true, 0.9}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program p;
		struct err err = {0};
		json_t *result = NULL;
		double good = 0;
		for (int seed = SEEDS; seed >= 1; seed--) {
			json_decref(result);
			p = (struct program){.seconds = cases[i].seconds, .values = cases[i].wide, .seed = 2 + (uint64_t)seed};
			result = tune(&p, cases[i].budget, &err);
			good += right(&p) / SEEDS;
			printf("# case %zu, seed %d: %.0f %%\n", i + 1, seed, 100 * right(&p));
		}
		ok(good >= cases[i].right, "case %zu: the time left is right: %.0f %% of the reports of %d searches", i + 1,
		   100 * good, SEEDS);
		double all = cases[i].budget.seconds > 0 ? cases[i].budget.seconds : p.clock;
		bool early = p.clock < 0.1 * cases[i].budget.seconds; /* the whole session */
		ok(early ? p.found == 0 : p.found == 1 && p.found_gain > 1.02 && p.found_block != 16,
		   "a first useful setting is told once: %d, %.2fx", p.found, p.found_gain);
		ok(p.found_at <= 0.1 * all + 8 * p.seconds, "after the first tenth: %g s of %g", p.found_at, all);
		json_decref(result);
	}
}

/* A budget is kept whatever the program does: the clock is that of the runs. */
static void promises(void) {
	static const double budgets[] = {100, 150, 250, 300, 400, 700};
	for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++)
		for (int hanging = 16; hanging <= 1024; hanging *= 2) {
			struct program p = {.seconds = 30, .hanging = hanging};
			struct err err = {0};
			json_t *result = tune(&p, (struct tune_budget){.seconds = budgets[i]}, &err);
			if (p.clock > budgets[i] * 1.05)
				ok(false, "a budget of %g s became %g s, %d hangs", budgets[i], p.clock, hanging);
			json_decref(result);
		}
	struct program p = {.seconds = 30};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.seconds = 200}, &err);
	ok(strstr(p.said, "budget of 200 s") && strstr(p.said, "--budget 4"), "short: %s", p.said);
	is_text(js_string_or(result, "verdict", ""), "undecided", "what cannot be proven is undecided");
	ok(best_block(result) != 16 && p.clock <= 210, "a better setting is found all the same");
	json_decref(result);
	struct program tried = {.seconds = 30}, cut = {.seconds = 30};
	ok(!tune(&tried, (struct tune_budget){.seconds = 60}, &err) && err.code == ERR_USAGE, "too short: %s", err.what);
	err = (struct err){0};
	ok(!tune(&cut, (struct tune_budget){.seconds = 20}, &err) && err.code == ERR_USAGE && cut.clock <= 22,
	   "too short: %s", err.what);
}

/* A program of 5.8 s, for which a hint of the machine is 1.5 times as fast. */
static void few_runs(void) {
	struct program p = {.seconds = 5.8 / 1.5, .hinted = true};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.seconds = 50}, &err);
	ok(best_block(result) == 64 && p.runs <= 10, "found and proven in %d runs", p.runs);
	is_text(js_string_or(result, "verdict", ""), "faster", "the verdict says so");
	ok(js_bool_or(result, "proven", false) && p.clock <= 52.5, "the proof takes %g of 50 s", p.clock);
	json_decref(result);
}

/* Today's setting takes longer than any budget: all that can be proven is how much longer at least. */
static void endless(void) {
	struct program p = {.seconds = 0.2, .hanging = 16};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.seconds = 30}, &err);
	const json_t *ci = json_object_get(json_object_get(result, "speedup"), "ci");
	ok(best_block(result) == 64 && strcmp(js_string_or(result, "verdict", ""), "faster") == 0,
	   "a baseline that never ends is beaten: %s", js_string_or(result, "verdict", "?"));
	ok(json_number_value(json_array_get(ci, 0)) > 2 && json_is_null(json_array_get(ci, 1)),
	   "the factor is known to be at least %g", json_number_value(json_array_get(ci, 0)));
	ok(p.clock <= 31.5, "within the budget: %g s", p.clock);
	json_decref(result);
}

/* Nobody can tell what a baseline does whose runs are all ended, so that some are not. */
static void seldom_whole(void) {
	struct program p = {.seconds = 0.2, .today = 7};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.seconds = 30}, &err);
	ok(best_block(result) == 64 && strcmp(js_string_or(result, "verdict", ""), "faster") == 0 && p.whole >= 1,
	   "a baseline that takes a quarter of the budget ends in %d runs: %s", p.whole,
	   js_string_or(result, "verdict", "?"));
	ok(p.clock <= 31.5, "within the budget: %g s", p.clock);
	json_decref(result);
}

/* What the finals do not need goes back to the search, as long as it may find something. */
static void no_second_back(void) {
	for (double seconds = 0.1; seconds <= 1; seconds *= 10) {
		struct program p = {.seconds = seconds, .values = true};
		struct err err = {0};
		json_t *result = tune(&p, (struct tune_budget){.seconds = 60}, &err);
		ok(js_bool_or(result, "proven", false), "runs of %g s: proven", seconds);
		ok(p.clock >= 0.95 * 60 && p.clock <= 63, "%g of 60 s are used", p.clock);
		json_decref(result);
	}
}

static void rate(void) {
	struct program p = {.seconds = 0.1, .rate = true};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.evaluations = 7}, &err), *best = json_object_get(result, "best");
	const json_t *ci = json_object_get(best, "ci");
	double median = js_real_or(best, "median", 0);
	ok(best_block(result) == 64, "the largest rate is found");
	ok(fabs(median / 1000 - 1) < 0.01, "the rate is reported as printed by the program: %g", median);
	ok(json_number_value(json_array_get(ci, 0)) <= median && median <= json_number_value(json_array_get(ci, 1)),
	   "the interval of a rate is in ascending order");
	is_text(js_string_or(best, "unit", "?"), "", "a metric of the program has no unit");
	is_text(js_string_or(result, "objective", ""), "maximize rate ([0-9]+)", "the objective names what was maximised");
	double ratio = js_real_or(json_object_get(result, "speedup"), "ratio", 0);
	ok(fabs(ratio - 1.5) < 0.02, "a larger rate is a speedup: %g", ratio);
	json_decref(result);
}

static void failures(void) {
	struct program p = {.seconds = 0.005, .crashing = 64};
	struct err err = {0};
	json_t *result = tune(&p, (struct tune_budget){.evaluations = 7}, &err);
	int block = best_block(result);
	ok(block == 32 || block == 128, "if the best crashes, its neighbour wins");
	ok(js_int_or(json_object_get(result, "failures"), "runtime", 0) >= 1, "the crash is counted");
	json_decref(result);
	struct program baseline = {.seconds = 0.005, .crashing = 16};
	result = tune(&baseline, (struct tune_budget){.evaluations = 7}, &err);
	ok(best_block(result) == 64, "a crashing baseline does not stop the search");
	is_text(js_string_or(result, "verdict", ""), "no baseline", "the verdict says that there is no baseline");
	json_decref(result);
	struct program none = {.seconds = 0.005, .all_crash = true};
	err = (struct err){0};
	json_decref(tune(&none, (struct tune_budget){.evaluations = 7}, &err));
	ok(err.code == ERR_NOTHING && strstr(err.hint, "exit status 1"), "nothing works: %s", err.what);
}

int main(void) {
	fixture_begin();
	short_program();
	long_program();
	time_left();
	promises();
	few_runs();
	endless();
	seldom_whole();
	no_second_back();
	rate();
	failures();
	return fixture_end();
}
