/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A short budget ends with a proof although some configurations of a kernel hang, on a simulated clock: each hang takes
 * a quarter of the budget, and the finalists need far longer for a trial than for a run. Where only the baseline works,
 * the search uses the budget to find something else. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

static const double BUDGET = 12, TOLERANCE = 2, TIMEOUT = 3, SETUP = 0.02;
enum { SEEDS = 40, BASELINE = 16, BLOCKS = 401 };

struct kernel {
	struct rng rng;
	double clock;
	int hangs;
	bool alone; /* only the baseline works, and the others fail soon */
	/* None hangs; the first trial of a worker computes a reference, and some configurations take long to be built: */
	double reference_s, build_s;
	bool referred, built[BLOCKS];
	int cuts;
	/* A program with two configurations: */
	const char *values; /* NULL: a kernel with many */
	int others, breaks; /* trials of the one that is not the baseline, and how many of them work (0: all) */
	double other_s;     /* what each of them takes, whatever the program prints */
};

static double now(void *ctx) {
	return ((const struct kernel *)ctx)->clock;
}

static double seconds_of(int block) {
	return block < 100 ? 0.03 : 0.004 * (1 + fabs(log2(block / 200.0)) / 4);
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct kernel *k = ctx;
	int block = (int)js_int_or(request->config, "block", 0);
	double each = seconds_of(block), limit = fmin(request->timeout_s, TIMEOUT);
	(void)err;
	*result = (struct trial_result){.sample_count = (size_t)request->samples, .value = NAN, .least = NAN};
	result->elapsed_s = SETUP + (request->samples + 1) * each;
	bool fails = k->alone ? block != BASELINE : block % 16 == 5;
	k->others += block != BASELINE;
	if (k->reference_s > 0) {
		double verify_s = k->referred ? 0 : k->reference_s;
		fails = false;
		result->elapsed_s += verify_s + (block % 8 == 3 && !k->built[block] ? k->build_s : 0);
		result->reply = json_pack("{s:f}", "verify_s", verify_s);
		k->referred = k->built[block] = true;
		limit = request->timeout_s > 0 ? request->timeout_s : INFINITY;
		k->cuts += result->elapsed_s > limit;
	}
	fails = fails || (k->breaks && k->others > k->breaks);
	if (k->other_s > 0 && block != BASELINE)
		result->elapsed_s = k->other_s;
	k->hangs += fails;
	if (k->alone)
		limit = fmin(limit, 1);
	if (fails || result->elapsed_s > limit) {
		result->status = TRIAL_TIMEOUT;
		result->elapsed_s = limit;
		k->referred = false;
		result->sample_count = 0;
	} else {
		result->samples = mem_alloc(result->sample_count, sizeof *result->samples);
		for (size_t i = 0; i < result->sample_count; i++)
			result->samples[i] = each * exp(0.02 * rng_normal(&k->rng));
		result->value = result->least = result->samples[0];
	}
	k->clock += result->elapsed_s;
	return 0;
}

static json_t *tune(struct kernel *k, unsigned seed) {
	char *path = fixture_path("hangs.db");
	remove(path);
	struct store *store = fixture_open(path);
	struct space *space = space_new();
	struct runner runner = {.ctx = k, .run = run};
	json_t *problem = json_pack("{s:i}", "n", 4), *baseline = json_pack("{s:i}", "block", BASELINE), *result = NULL;
	struct err err = {0};
	add_param(space, "block", k->values ? k->values : "16..400", NULL);
	built(space);
	rng_seed(&k->rng, seed);
	struct tune_task task = {.kernel = "kernel",
	                         .source = "sha256:0",
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .start = UINT64_MAX,
	                         .strategy = strategy_find("random"),
	                         .seed = seed,
	                         .whole_programs = k->values,
	                         .goal.metric = k->values ? "([0-9.]+)" : NULL,
	                         .budget = {.seconds = BUDGET},
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.now = now,
	                         .hooks.now_ctx = k};
	if (space_config_read(space, baseline, NULL, &task.start, &err) || tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	json_decref(problem);
	json_decref(baseline);
	space_free(space);
	store_close(store);
	free(path);
	return result;
}

static void test_alone(void) {
	struct kernel k = {.alone = true};
	json_t *result = tune(&k, 1);
	is_text(js_string_or(result, "verdict", ""), "undecided", "what the rest of the space does is not known");
	ok(js_bool_or(result, "few", false), "the result says that too little was tried for a tie");
	ok(json_is_null(json_object_get(result, "speedup")), "a baseline that stays for now has no speedup");
	/* Each takes 1 s; the shortest proof and runs of the baseline take the rest. */
	ok(k.hangs >= BUDGET - 2, "others are tried to the end of the budget: %d", k.hangs);
	ok(k.clock <= BUDGET + TOLERANCE, "others are not tried longer than the budget");
	json_decref(result);
}

/* To cut a trial because its build takes a little longer than the others would cost a worker, and with it the reference
 * and the proof. */
static void test_reference(void) {
	int proven = 0, cuts = 0, kept = 0;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct kernel k = {.reference_s = BUDGET / 4, .build_s = 0.3};
		json_t *result = tune(&k, seed);
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		kept += k.clock <= BUDGET + TOLERANCE;
		cuts += k.cuts;
		json_decref(result);
	}
	ok(proven == SEEDS, "%d are proven although a new worker takes long to begin", proven);
	ok(cuts == 0, "%d trials were cut for their build", cuts);
	ok(kept == SEEDS, "%d within the budget", kept);
}

/* What the search saw is not lost where the budget ends before the first pair. */
static void test_unmet(void) {
	struct kernel k = {.values = "16,200", .other_s = 2.8};
	json_t *result = tune(&k, 1);
	const json_t *best = json_object_get(result, "best");
	is_text(js_string_or(result, "verdict", ""), "undecided", "no time for a pair");
	ok(js_int_or(json_object_get(best, "config"), "block", 0) == 200, "the best of the search is kept");
	ok(js_real_or(best, "median", 1) < 0.01, "the best of the search has its own value");
	json_decref(result);
}

static void test_lost(void) {
	struct kernel k = {.values = "16,200", .breaks = 1};
	json_t *result = tune(&k, 1);
	const json_t *best = json_object_get(result, "best");
	is_text(js_string_or(result, "verdict", ""), "tie", "the only other configuration fails in the comparison");
	ok(js_int_or(json_object_get(best, "config"), "block", 0) == BASELINE && js_int_or(result, "pairs", -1) == 0,
	   "the baseline is kept");
	json_decref(result);
}

int main(void) {
	int proven = 0, kept = 0, hangs = 0;
	fixture_begin();
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct kernel k = {0};
		json_t *result = tune(&k, seed);
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		kept += k.clock <= BUDGET + TOLERANCE;
		hangs += k.hangs > 0;
		json_decref(result);
	}
	ok(hangs > SEEDS / 2, "%d of %d searches met a configuration that hangs", hangs, SEEDS);
	ok(proven == SEEDS, "%d are proven", proven);
	ok(kept == SEEDS, "%d within the budget", kept);
	test_alone();
	test_reference();
	test_unmet();
	test_lost();
	return fixture_end();
}
