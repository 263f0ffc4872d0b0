/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs whose causes are tested through their environment: what a probe says of each mechanism, and of the same
 * program without it. A model gives the times, and the clock adds them. */
#include "tests/tap.h"
#include "tests/tuner/diagnosis/made.h"
#include "tuner/probe/probe.h"

enum { SEEDS = 20, RIGHT_LEAST = 19, TEAM = 16, CALLS = 1000 };

/* A budget, and the deviation of one run. */
struct conditions {
	double seconds, noise;
};
static const struct conditions long_and_quiet = {90, 0.03}, usual = {9, 0.1};

/* Seconds of one run; those of the threads are for all of them together. */
struct program {
	double serial, work, join; /* join: of each region */
	double turns;              /* on fewer cores, of each region: threads wait by sleeping */
	double uneven;             /* the slowest thread works so much longer than the mean, with equal shares */
	double lines, memory;      /* what threads on several cores, and more threads than saturate it, add to the work */
	double sleeps, moves, kernel; /* a run; seconds for the last */
	bool memory_kept;             /* the allocator can keep what it has got */
	int few;                      /* cores of a confined run */
	double noise;
	bool hidden; /* its usage is not known */
	int jobs;    /* so many of its threads have work at a time; 0: all */
	double stolen,
		often; /* what a hypervisor takes from one processor, as a share of the time of so many of its runs */
	/* Its regions are not known, but that one thread alone runs for this share of its time, and how many times as long
	 * it takes on a quarter of the cores; 0: not known, either. */
	double alone[2];
	struct rng rng;
	double now;
};

/* Seconds of a run. */
static double model(const struct program *one, const json_t *config, bool confined) {
	bool active = strcmp(js_string_or(config, "OMP_WAIT_POLICY", ""), "active") == 0,
		 bound = json_object_get(config, "OMP_PROC_BIND") && !confined,
		 dynamic = json_object_get(config, "OMP_SCHEDULE"),
		 keeps = one->memory_kept && json_object_get(config, "MALLOC_TRIM_THRESHOLD_");
	double team = json_number_value(json_object_get(config, "OMP_NUM_THREADS")), cores = confined ? one->few : team;
	cores = one->jobs && one->jobs < cores ? one->jobs : cores;
	double work = one->work * (1 + (cores > 1 ? one->lines * (cores - 1) : 0));
	return one->serial + (team > 1 ? CALLS * one->join : 0) + (confined ? CALLS * one->turns : 0) +
	       work / cores * (dynamic ? 1 : 1 + one->uneven) + (active ? 0 : one->sleeps * 50e-6 / team) +
	       (bound ? 0 : one->moves * 150e-6 / team) + (keeps ? 0 : one->kernel);
}

static int run_in(struct program *one, const struct trial_request *request, bool confined,
                  struct trial_result *result) {
	static const double START = 0.03; /* seconds */
	*result = (struct trial_result){.value = NAN, .least = NAN};
	result->samples = mem_alloc(1, sizeof *result->samples);
	result->samples[0] = result->value = result->least =
		model(one, request->config, confined) * exp(one->noise * rng_normal(&one->rng));
	double stolen = rng_unit(&one->rng) < one->often ? one->stolen * result->value : 0;
	result->value += stolen;
	result->samples[0] = result->least = result->value;
	result->disturbed = stolen > 0;
	one->now += START + result->value;
	result->sample_count = 1;
	bool keeps = json_object_get(request->config, "MALLOC_TRIM_THRESHOLD_");
	result->reply =
		json_pack("{s:{s:i},s:{s:f}}", "usage", "minor_faults", keeps ? 100 : 100000, "noise", "steal_s", stolen);
	return 0;
}

static int run_free(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	(void)err;
	return run_in(ctx, request, false, result);
}

static int run_confined(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	(void)err;
	return run_in(ctx, request, true, result);
}

static double now_of(void *ctx) {
	return ((struct program *)ctx)->now;
}

/* The profile of a run with equal shares. */
static json_t *regions_of(const struct program *one, double time) {
	double inside = time - one->serial;
	return json_pack("{s:f,s:f,s:i,s:b,s:[{s:s,s:i,s:f,s:f,s:s}]}", "time", time, "fork_join_s", one->join,
	                 "default_threads", TEAM, "busy", 0, "regions", "name", "loop", "calls", CALLS, "time", inside,
	                 "imbalance", one->uneven, "sharing", "runtime loop");
}

static int begin(void *ctx, const char *cause, double left_s, struct err *err) {
	struct program *one = ctx;
	(void)left_s;
	(void)err;
	one->few = strcmp(cause, "shared_lines") == 0 ? 1 : TEAM / 4;
	return 0;
}

static json_t *probed(struct program *one, const struct conditions *conditions, uint64_t seed, const char *cause) {
	struct made *made = made_new(seed, TEAM, TEAM);
	rng_split(&one->rng, seed, "program");
	one->noise = conditions->noise;
	js_auto json_t *config = json_pack("{s:i}", "OMP_NUM_THREADS", TEAM);
	double time = model(one, config, false), busy = TEAM * (time - one->kernel) - (TEAM - 1) * one->serial;
	made_add(made, json_object(), json_incref(config), time,
	         json_pack("{s:{s:f,s:f,s:f,s:f,s:f}}", "usage", "user_s", busy, "system_s", one->kernel,
	                   "voluntary_switches", one->sleeps, "migrations", one->moves, "minor_faults", 1e5));
	struct study *study = made_study(made);
	js_auto json_t *regions = regions_of(one, time);
	const struct probe_subject subject = {.study = study,
	                                      .program = true,
	                                      .whole = !one->hidden,
	                                      .regions = one->alone[0] > 0 ? NULL : regions,
	                                      .alone = one->alone[0] > 0 ? one->alone : NULL};
	const struct probe_bench bench = {.runner = {.ctx = one, .run = run_free},
	                                  .confined = {.ctx = one, .run = run_confined},
	                                  .request = {.kernel = "made"},
	                                  .begin = begin,
	                                  .ctx = one,
	                                  .seconds = conditions->seconds,
	                                  .in_seconds = true,
	                                  .seed = seed,
	                                  .clock = {.now = now_of, .ctx = one}};
	struct err err = {0};
	js_auto json_t *list = probe_causes(&subject, &bench, &err);
	json_t *found = NULL;
	js_each (entry, list)
		if (strcmp(js_string_or(entry, "cause", ""), cause) == 0)
			found = json_incref(entry);
	study_free(study);
	made_free(made);
	return found;
}

static bool said(const json_t *entry, const char *outcome) {
	return strcmp(js_string_or(entry, "outcome", "none"), outcome) == 0;
}

static const struct planted {
	const char *cause;
	struct program with, without;
} planted[] = {
	{"load_imbalance", {.work = 0.8, .uneven = 0.8}, {.work = 0.8}},
	{"fork_join", {.work = 0.16, .join = 50e-6}, {.work = 0.8, .join = 1e-6}},
	{"serial_part", {.work = 0.8, .serial = 0.05}, {.work = 0.8, .serial = 1e-3}},
	{"serial_part", {.work = 0.8, .serial = 0.05, .alone = {0.5}}, {.work = 0.8, .alone = {0.5}}},
	{"serial_part", {.work = 0.8, .serial = 0.05, .alone = {0.5}}, {.work = 0.8, .serial = 1e-3, .alone = {0.03}}},
	{"serial_part", {.work = 0.3, .jobs = 3, .alone = {0.14, 1.05}}, {.work = 0.8, .alone = {0.14, 1.05}}},
	{"own_work", {.work = 0.8}, {.work = 0.8, .lines = 0.3}},
	{"shared_lines", {.work = 0.1, .lines = 3}, {.work = 0.8}},
	{"wake_up", {.work = 0.8, .sleeps = 16000}, {.work = 0.8, .sleeps = 50}},
	{"thread_placement", {.work = 0.8, .moves = 5000}, {.work = 0.8, .moves = 10}},
	{"allocation", {.work = 0.8, .kernel = 0.05, .memory_kept = true}, {.work = 0.8, .kernel = 1e-3}},
	{"allocation", {.work = 0.8, .kernel = 0.05, .memory_kept = true}, {.work = 0.8, .kernel = 0.05}},
};
enum { PLANTED = sizeof planted / sizeof *planted };

struct tally {
	int right, wrong;
};

static struct tally tally_of(const struct planted *one, bool acts, const struct conditions *conditions) {
	struct tally tally = {0};
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct program program = acts ? one->with : one->without;
		js_auto json_t *entry = probed(&program, conditions, seed, one->cause);
		bool good = said(entry, acts ? "confirmed" : "refuted");
		mem_auto char *text = entry ? js_canonical(entry) : mem_strdup("no entry");
		if (!good)
			printf("# seed %d, %s: %s\n", (int)seed, acts ? "acts" : "absent", text);
		tally.right += good;
		tally.wrong += !good && !said(entry, "not testable");
	}
	return tally;
}

static void test_planted(void) {
	for (size_t i = 0; i < PLANTED; i++) {
		int with = tally_of(&planted[i], true, &long_and_quiet).right,
			without = tally_of(&planted[i], false, &long_and_quiet).right;
		ok(with >= RIGHT_LEAST, "%s is confirmed in %d of %d programs that have it", planted[i].cause, with, SEEDS);
		ok(without >= RIGHT_LEAST, "%s is refuted in %d of %d programs without it", planted[i].cause, without, SEEDS);
	}
}

/* All causes share a few seconds, and runs vary by a tenth. */
static void test_usual(void) {
	int right = 0, wrong = 0, all = 2 * SEEDS * PLANTED;
	for (size_t i = 0; i < 2 * PLANTED; i++) {
		struct tally one = tally_of(&planted[i / 2], i % 2, &usual);
		right += one.right;
		wrong += one.wrong;
	}
	ok(10 * right >= 9 * all, "%d of %d verdicts are right where runs vary by a tenth and time is short", right, all);
	ok(100 * wrong <= all, "%d of them are wrong", wrong);
}

/* Nothing predicts an effect that no run has shown. */
static void test_unpredicted(void) {
	struct program program = {.work = 0.8, .moves = 5000, .hidden = true}, still = {.work = 0.8, .hidden = true};
	js_auto json_t *seen = probed(&program, &long_and_quiet, 1, "thread_placement"),
				   *absent = probed(&still, &long_and_quiet, 1, "thread_placement");
	ok(said(seen, "measured") && json_is_null(json_object_get(seen, "predicted")),
	   "an effect that nothing predicts is measured, and not confirmed");
	ok(said(absent, "refuted"), "no effect refutes what nothing predicts");
}

/* Threads that lose nothing to each other do not take lines from each other. */
static void test_instead(void) {
	struct program own = {.work = 0.8};
	js_auto json_t *entry = probed(&own, &long_and_quiet, 1, "shared_lines");
	ok(said(entry, "refuted") && strstr(js_string_or(entry, "intervention", ""), "on 4 cores"),
	   "what confirms own work refutes shared lines, without the run on one core");
}

/* A quarter of the cores is 1.04 times slower for such a part, and clocks alone may change it by more. */
static void test_small(void) {
	struct program small = {.work = 0.8, .serial = 0.01, .alone = {0.14}};
	int open = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		js_auto json_t *entry = probed(&small, &long_and_quiet, seed, "serial_part");
		open += said(entry, "not testable") && strstr(js_string_or(entry, "reason", ""), "1.16x at most");
	}
	ok(open == SEEDS, "a serial part that no experiment could refute is not confirmed, and its gain is bounded");
}

/* A hypervisor makes a team wait for the thread whose processor it takes. */
static void test_stolen(void) {
	int right = 0, wrong = 0, open = 0;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct program often = {.work = 0.8, .stolen = 0.8, .often = 0.5},
					   always = {.work = 0.8, .stolen = 0.8, .often = 1};
		js_auto json_t *some = probed(&often, &long_and_quiet, seed, "own_work"),
					   *all = probed(&always, &long_and_quiet, seed, "own_work");
		right += said(some, "confirmed");
		wrong += said(some, "refuted") || said(all, "refuted");
		open += said(all, "not testable") && strstr(js_string_or(all, "reason", ""), "others take processors");
	}
	ok(right >= RIGHT_LEAST, "runs from which a hypervisor takes something are repeated: %d of %d right", right, SEEDS);
	ok(open == SEEDS && wrong == 0, "if it always does, nothing is said about a team: %d of %d", open, SEEDS);
}

static void test_turns(void) {
	struct program tiny = {.work = 0.16, .join = 50e-6, .turns = 250e-6};
	js_auto json_t *entry = probed(&tiny, &long_and_quiet, 1, "own_work");
	ok(said(entry, "not testable") && js_real_or(entry, "measured", 1) < 0.25,
	   "threads that take longer in turns than their work explains do not have it to themselves");
}

/* The finals of a tune have measured a binding, with the places that belong to it. */
static void test_tune(void) {
	struct made *made = made_new(1, TEAM, TEAM);
	made_add(made, json_object(), json_pack("{s:i,s:b}", "threads", TEAM, "proc_bind", 0), 1,
	         json_pack("{s:{s:i}}", "usage", "migrations", 100000));
	struct study *study = made_study(made);
	js_auto json_t *regions = json_pack("{s:[{s:s}]}", "regions", "name", "loop"),
				   *tune = json_pack("{s:{s:{s:b}},s:{s:{s:s,s:s}},s:[{s:s,s:s,s:f,s:[f,f]}]}", "baseline", "config",
	                                 "proc_bind", 0, "best", "config", "proc_bind", "close", "places", "cores", "worth",
	                                 "param", "proc_bind", "value", "close", "ratio", 1.3, "ci", 1.2, 1.4);
	const struct probe_subject subject = {
		.study = study, .tune = tune, .program = true, .whole = true, .regions = regions};
	const struct probe_bench bench = {.why = "nothing runs here", .seconds = 1};
	struct err err = {0};
	js_auto json_t *list = probe_causes(&subject, &bench, &err);
	bool taken = false;
	js_each (entry, list)
		if (strcmp(js_string_or(entry, "cause", ""), "thread_placement") == 0)
			taken = said(entry, "confirmed") && strcmp(js_string_or(entry, "from", ""), "tune") == 0;
	ok(taken, "a binding that the finals of a tune have measured is not measured again");
	study_free(study);
	made_free(made);
}

/* A profile may lack what was not timed. */
static void test_unknown(void) {
	struct made *made = made_new(1, TEAM, TEAM);
	made_add(made, json_object(), json_pack("{s:i}", "OMP_NUM_THREADS", TEAM), 1, NULL);
	struct study *study = made_study(made);
	js_auto json_t *regions =
		json_pack("{s:f,s:[{s:s,s:f,s:i}]}", "time", 1.0, "regions", "name", "loop", "time", 0.9, "calls", 100000);
	const struct probe_subject subject = {.study = study, .program = true, .regions = regions};
	const struct probe_bench bench = {.why = "nothing runs here", .seconds = 1};
	struct err err = {0};
	js_auto json_t *list = probe_causes(&subject, &bench, &err);
	int open = 0;
	js_each (entry, list)
		if (strcmp(js_string_or(entry, "cause", ""), "load_imbalance") == 0 ||
		    strcmp(js_string_or(entry, "cause", ""), "fork_join") == 0)
			open += said(entry, "not testable");
	ok(open == 2, "regions whose threads and joins were not timed refute nothing");
	study_free(study);
	made_free(made);
}

int main(void) {
	test_planted();
	test_usual();
	test_unknown();
	test_tune();
	test_unpredicted();
	test_instead();
	test_small();
	test_turns();
	test_stolen();
	return tap_done();
}
