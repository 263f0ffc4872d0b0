/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planted causes: what a probe says of each mechanism, and of the same tables without it. The times come from the
 * tables that diagnoses are tested with, and the clock counts trials. */
#include "tests/tap.h"
#include "tests/tuner/diagnosis/mechanisms.h"
#include "tuner/probe/probe.h"

enum { SEEDS = 20, RIGHT_LEAST = 19, TRIALS = 600 };

/* Twice the threads at a lower clock, or not; the peaks of the machine show that. */
static struct made *make_frequency(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double clock = made_between(made, 1.15, 1.5);
	made->ceilings = json_array();
	for (int threads = 1; threads <= 8; threads *= 2) {
		double lower = 1 + (clock - 1) * (threads - 1) / 7;
		json_array_append_new(made->ceilings, json_pack("{s:s,s:i,s:f,s:s}", "name", "fp32", "threads", threads,
		                                                "value", 10 * threads / lower, "unit", "GFLOP/s"));
		json_array_append_new(made->ceilings, json_pack("{s:s,s:i,s:f,s:s}", "name", "fp64", "threads", threads,
		                                                "value", threads < 8 ? 10.0 * threads : 40 / lower, "unit",
		                                                "GFLOP/s")); /* units shared */
		made_add(made, json_object(), json_pack("{s:i}", "threads", threads), (acts ? lower : 1) / threads, NULL);
	}
	return made;
}

/* Threads that wait for a lock lose more than their clocks explain. */
static struct made *make_beyond(uint64_t seed, bool acts) {
	struct made *made = make_frequency(seed, true);
	for (size_t i = 1; i < made->count && !acts; i++) {
		made->row[i].truth *= 3;
		made->row[i].value *= 3;
	}
	return made;
}

static json_t *gpu_work(double ops) {
	return json_pack("{s:{s:f,s:f,s:s}}", "work", "ops", ops, "bytes", ops, "op", "flop");
}

static struct made *make_launch(uint64_t seed, bool acts) {
	static const char *const launches[] = {"queued", "graph"};
	struct made *made = made_new(seed, 8, 8);
	double cost = made_between(made, 0.3, 3);
	made->device = "cuda:0";
	for (int n = 256; n <= 1024; n *= 2)
		for (int block = 64; block <= 512; block *= 2)
			for (int l = 0; l < 2; l++)
				made_add(made, json_pack("{s:i}", "n", n),
				         json_pack("{s:i,s:s}", "block_size", block, "launch", launches[l]),
				         n * (block == 128 ? 1 : 1.2) * (acts && l == 0 ? 1 + cost : 1), NULL);
	return made;
}

static struct made *make_occupancy(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double cost = made_between(made, 0.25, 1);
	made->device = "cuda:0";
	for (int n = 256; n <= 1024; n *= 2)
		for (int registers = 32; registers <= 128; registers *= 2)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i}", "registers", registers),
			         n * (acts && registers > 32 ? 1 + cost * registers / 128 : 1), NULL);
	return made;
}

/* Fewer blocks at a time hide less, and 0 sets no limit. */
static struct made *make_blocks(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double cost = made_between(made, 0.25, 1);
	made->device = "cuda:0";
	for (int n = 256; n <= 1024; n *= 2)
		for (int blocks = 0; blocks <= 16; blocks += 4)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i}", "blocks_per_sm", blocks),
			         n * (acts && blocks == 4 ? 1 + cost : 1), NULL);
	return made;
}

/* Longer kernels hide what the host does meanwhile. */
static struct made *make_host(uint64_t seed, bool acts) {
	struct made *made = made_new(seed, 8, 8);
	double host = made_between(made, 0.5, 2);
	made->device = "cuda:0";
	for (int n = 1; n <= 16; n *= 4)
		for (int block = 64; block <= 512; block *= 2)
			made_add(made, json_pack("{s:i}", "n", n), json_pack("{s:i}", "block_size", block),
			         n * (block == 128 ? 1 : 1.2) + (acts ? host : 0), gpu_work(1e9 * n));
	return made;
}

static const struct planted {
	const char *cause;
	struct made *(*make)(uint64_t seed, bool acts);
	const char *key;
	int value; /* of the problem; key NULL: any */
} planted[] = {
	{"false_sharing", make_false_sharing, "coords", 1},
	{"numa_first_touch", make_first_touch, "coords", 1},
	{"lock_convoy", make_convoy, NULL, 0},
	{"oversubscription", make_oversubscription, "n", 1024},
	{"load_imbalance", make_imbalance, "n", 512},
	{"memory_bandwidth", make_saturated, "n", 4096},
	{"fork_join", make_fork_join, "n", 64},
	{"smt_sharing", make_smt, NULL, 0},
	{"frequency", make_frequency, NULL, 0},
	{"frequency", make_beyond, NULL, 0},
	{"launch_overhead", make_launch, "n", 256},
	{"occupancy_limiter", make_occupancy, "n", 256},
	{"occupancy_limiter", make_blocks, "n", 256},
	{"host_bound", make_host, "n", 1},
};
enum { PLANTED = sizeof planted / sizeof *planted };

struct machine {
	const struct made *made;
	struct rng rng;
	double now;
	int interrupt_at; /* the trial at which somebody ends it; 0: none */
};

static double machine_now(void *ctx) {
	return ((struct machine *)ctx)->now;
}

static int machine_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct machine *machine = ctx;
	machine->now++;
	*result = (struct trial_result){.value = NAN, .least = NAN};
	if (machine->interrupt_at && machine->now >= machine->interrupt_at)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	for (size_t i = 0; i < machine->made->count; i++) {
		const struct made_row *row = &machine->made->row[i];
		if (!json_equal(row->problem, request->problem) || !json_equal(row->config, request->config))
			continue;
		result->samples = mem_alloc(1, sizeof *result->samples);
		result->samples[0] = result->value = result->least = row->truth * exp(0.03 * rng_normal(&machine->rng));
		result->sample_count = 1;
		return 0;
	}
	trial_result_fail(result, TRIAL_CONSTRAINTS, "nobody knows this setting");
	return 0;
}

static size_t row_of(const struct study *study, const char *key, int value) {
	size_t row = 0;
	while (key && row + 1 < study_rows(study) && study_value_number(study, row, key, NAN) != value)
		row++;
	return row;
}

/* New reference to the entry of one cause. */
static json_t *probed(const struct planted *one, uint64_t seed, bool acts, double seconds, int interrupt_at,
                      struct err *err) {
	struct made *made = one->make(seed, acts);
	struct study *study = made_study(made);
	js_auto json_t *findings = made_findings(made);
	struct machine machine = {.made = made, .interrupt_at = interrupt_at};
	rng_split(&machine.rng, seed, "machine");
	const struct probe_subject subject = {
		.study = study, .problem_row = row_of(study, one->key, one->value), .findings = findings};
	const struct probe_bench bench = {.runner = {.ctx = &machine, .run = machine_run},
	                                  .request = {.kernel = "made"},
	                                  .seconds = seconds,
	                                  .seed = seed,
	                                  .clock = {.now = machine_now, .ctx = &machine}};
	js_auto json_t *list = probe_causes(&subject, &bench, err);
	json_t *found = NULL;
	js_each (entry, list)
		if (strcmp(js_string_or(entry, "cause", ""), one->cause) == 0)
			found = json_incref(entry);
	study_free(study);
	made_free(made);
	return found;
}

static bool said(const json_t *entry, const char *outcome) {
	return strcmp(js_string_or(entry, "outcome", "none"), outcome) == 0;
}

static void wrong_print(const struct planted *one, int seed, bool acts, const json_t *entry) {
	mem_auto char *text = entry ? js_canonical(entry) : mem_strdup("no entry");
	printf("# %s, seed %d, %s: %s\n", one->cause, seed, acts ? "acts" : "absent", text);
}

static void test_planted(void) {
	for (size_t i = 0; i < PLANTED; i++) {
		int right[2] = {0};
		for (int seed = 0; seed < SEEDS; seed++)
			for (int acts = 0; acts < 2; acts++) {
				struct err err = {0};
				js_auto json_t *entry = probed(&planted[i], (uint64_t)seed, acts, TRIALS, 0, &err);
				/* A machine with one memory node has no far memory, which needs no experiment. */
				bool good =
					acts ? said(entry, "confirmed") : said(entry, "refuted") || (said(entry, "not testable") && i == 1);
				right[acts] += good;
				if (!good)
					wrong_print(&planted[i], seed, acts, entry);
			}
		ok(right[1] >= RIGHT_LEAST, "%s is confirmed in %d of %d tables that have it", planted[i].cause, right[1],
		   SEEDS);
		ok(right[0] >= RIGHT_LEAST, "%s is refuted in %d of %d tables without it", planted[i].cause, right[0], SEEDS);
	}
}

/* Equal shares cost a little, and the few rows of the table vary more than that. */
static struct made *make_slight(uint64_t seed, bool acts) {
	static const char *const schedules[] = {"static", "dynamic"};
	struct made *made = made_new(seed, 8, 8);
	made->noise = 0.1;
	for (int threads = 1; threads <= 8; threads *= 2)
		for (int s = 0; s < 2; s++)
			made_add(made, json_object(), json_pack("{s:i,s:s}", "threads", threads, "schedule", schedules[s]),
			         (s      ? 1
			          : acts ? 1.2
			                 : 1.07) /
			             threads,
			         NULL);
	return made;
}

/* The verdict is about the effect, wherever the rows of the table have fallen. */
static void test_slight(void) {
	static const struct planted slight = {"load_imbalance", make_slight, NULL, 0};
	int confirmed[2] = {0}, refuted[2] = {0};
	for (int seed = 0; seed < SEEDS; seed++)
		for (int acts = 0; acts < 2; acts++) {
			struct err err = {0};
			js_auto json_t *entry = probed(&slight, (uint64_t)seed, acts, TRIALS, 0, &err);
			confirmed[acts] += said(entry, "confirmed");
			refuted[acts] += said(entry, "refuted");
		}
	ok(confirmed[0] == 0, "an effect of 7 %% is no reason in any of %d tables, however large it seemed", SEEDS);
	ok(refuted[1] == 0, "an effect of 20 %% is not refuted in any of %d tables", SEEDS);
	ok(refuted[0] + confirmed[1] >= 2 * RIGHT_LEAST - 4, "most of them are decided: %d and %d", refuted[0],
	   confirmed[1]);
}

static void test_ends(void) {
	struct err err = {0};
	js_auto json_t *late = probed(&planted[0], 1, true, 0, 0, &err);
	ok(said(late, "not testable") && strstr(js_string_or(late, "reason", ""), "raise --budget"),
	   "a cause for which there is no time is not testable, and the reason names the budget");
	js_auto json_t *stopped = probed(&planted[0], 1, true, TRIALS, 3, &err);
	ok(err.code == ERR_INTERRUPTED && said(stopped, "not testable") &&
	       strstr(js_string_or(stopped, "reason", ""), "interrupted"),
	   "an interruption is the reason why the rest was not tested");
}

/* The finals of a tune have compared pad=line with pad=none. New reference. */
static json_t *tune_json(double ratio, double low, double high) {
	return json_pack("{s:{s:{s:s}},s:{s:{s:s}},s:[{s:s,s:s,s:f,s:[f,f]}]}", "baseline", "config", "pad", "none", "best",
	                 "config", "pad", "line", "worth", "param", "pad", "value", "line", "ratio", ratio, "ci", low,
	                 high);
}

static void test_tune(void) {
	struct made *made = make_false_sharing(1, true);
	struct study *study = made_study(made);
	struct err err = {0};
	js_auto json_t *tune = tune_json(3.0, 2.8, 3.2);
	const struct probe_subject subject = {.study = study, .problem_row = row_of(study, "coords", 1), .tune = tune};
	const struct probe_bench bench = {.why = "nothing runs here", .seconds = 1};
	js_auto json_t *list = probe_causes(&subject, &bench, &err);
	const json_t *first = json_array_get(list, 0);
	ok(said(first, "confirmed") && js_real_or(first, "measured", 0) == 3 &&
	       strcmp(js_string_or(first, "from", ""), "tune") == 0,
	   "what the finals of a tune have measured is not measured again");
	int untested = 0;
	js_each (entry, list)
		untested += said(entry, "not testable");
	ok(untested == (int)json_array_size(list) - 1, "what cannot be run is not testable, and nothing else is known");
	study_free(study);
	made_free(made);
}

/* They have left it open: then it is measured. */
static void test_vague(void) {
	struct made *made = make_false_sharing(1, true);
	struct study *study = made_study(made);
	struct err err = {0};
	js_auto json_t *tune = tune_json(1.2, 0.9, 1.6);
	struct machine machine = {.made = made};
	rng_split(&machine.rng, 1, "machine");
	const struct probe_subject subject = {.study = study, .problem_row = row_of(study, "coords", 1), .tune = tune};
	const struct probe_bench bench = {.runner = {.ctx = &machine, .run = machine_run},
	                                  .request = {.kernel = "made"},
	                                  .seconds = TRIALS,
	                                  .clock = {.now = machine_now, .ctx = &machine}};
	js_auto json_t *list = probe_causes(&subject, &bench, &err);
	const json_t *first = json_array_get(list, 0);
	ok(said(first, "confirmed") && strcmp(js_string_or(first, "from", ""), "pairs") == 0,
	   "what they have left open is measured");
	study_free(study);
	made_free(made);
}

int main(void) {
	test_planted();
	test_slight();
	test_ends();
	test_tune();
	test_vague();
	return tap_done();
}
