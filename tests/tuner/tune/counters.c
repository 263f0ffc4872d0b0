/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which runs a tuner counts, when, and how failures are handled, on a simulated kernel that records every request. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/store/fixture.h"
#include "tests/tuner/space/help.h"
#include "tuner/tune/tune.h"

enum { ASKED_MAX = 64 };

struct kernel {
	struct rng rng;
	int failing;         /* counted runs of this block fail */
	bool broken, silent; /* counted runs cannot be made; report nothing */
	int interrupt_at;    /* the counted run during which Ctrl-C arrives; 0: none */
	volatile int interrupt;
	const char *values;        /* of the parameter; NULL: seven */
	double plain_s, counted_s; /* what a trial takes on the clock, which stands still otherwise */
	double begin_s;            /* more for the first one */
	/* observed */
	double clock;
	int trials, counted;
	int blocks[ASKED_MAX]; /* of the counted runs, in order */
	int last_plain;        /* index of the last trial without counters */
	int first_counted;     /* of the trials */
	double timeout_plain, timeout_counted;
};

static double clock_read(void *ctx) {
	return ((const struct kernel *)ctx)->clock;
}

/* Lets a trial of this length pass, or only as much of it as is left. */
static void pass(struct kernel *k, double seconds, const struct trial_request *request, struct trial_result *result) {
	bool cut = request->left_s > 0 && request->left_s < seconds;
	result->elapsed_s = cut ? request->left_s : seconds;
	k->clock += result->elapsed_s;
	if (cut)
		result->status = TRIAL_TIMEOUT;
}

static int block_of(const json_t *config) {
	return (int)js_int_or(config, "block", -1);
}

static json_t *reply_new(int block) {
	return json_pack("{s:[{s:s,s:f,s:s,s:s},{s:s,s:i,s:s}],s:{s:i,s:f,s:f,s:[{s:s,s:s,s:f,s:s,s:s}]}}", "counters",
	                 "name", "misses", "value", block * 2.0, "status", "counted", "unit", "count", "name", "liar",
	                 "value", 0, "status", "unavailable", "counting", "runs", 3, "seconds", 1.5e-3, "start_stop_s",
	                 2e-6, "metrics", "group", "MEM", "name", "volume", "value", 64.0 * block, "unit", "B", "formula",
	                 "64 * misses");
}

static int counted_run(struct kernel *k, const struct trial_request *request, struct trial_result *result,
                       struct err *err) {
	int block = block_of(request->config);
	k->first_counted = k->first_counted ? k->first_counted : k->trials;
	k->timeout_counted = request->timeout_s;
	if (k->counted < ASKED_MAX)
		k->blocks[k->counted] = block;
	k->counted++;
	if (k->counted == k->interrupt_at) {
		k->interrupt = 1;
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	}
	if (k->broken)
		return err_set(err, ERR_FAILED, NULL, "the worker can't be started");
	if (k->counted_s > 0)
		pass(k, k->counted_s, request, result);
	if (!k->silent && result->status == TRIAL_CORRECT)
		result->reply = reply_new(block);
	if (block == k->failing) {
		result->status = TRIAL_RUNTIME;
		result->value = NAN;
		snprintf(result->message, sizeof result->message, "it fell over");
	}
	return 0;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct kernel *k = ctx;
	double slow = 1 + fabs(log2(block_of(request->config) / 64.0));
	*result = (struct trial_result){.sample_count = (size_t)request->samples, .elapsed_s = 0.01};
	k->trials++;
	result->samples = mem_alloc(result->sample_count, sizeof *result->samples);
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] = 1e-3 * slow * exp(0.002 * rng_normal(&k->rng));
	result->value = result->least = result->samples[0];
	if (request->counters && request->counters[0])
		return counted_run(k, request, result, err);
	if (k->plain_s > 0) /* one sample: of the finals */
		pass(k, (request->samples > 1 ? k->plain_s : k->plain_s / 2) + (k->trials == 1 ? k->begin_s : 0), request,
		     result);
	k->last_plain = k->trials;
	k->timeout_plain = request->timeout_s;
	return 0;
}

struct outcome {
	json_t *result;
	struct err err;
	int failed;
	int stored; /* trials of the phase "counters" */
	char state[16];
};

static int count_trial(void *ctx, const struct store_trial *trial) {
	struct outcome *outcome = ctx;
	outcome->stored += json_is_array(json_object_get(trial->detail, "counters")) || *trial->status != 'c';
	return 0;
}

static void state_read(struct store *store, struct outcome *outcome) {
	const struct store_search like = {.kernel = "kernel"};
	struct store_resumed found;
	if (store_resume_find(store, MACHINE, &like, &found, NULL) == 1)
		store_trials_each(store, found.search, "counters", count_trial, outcome, NULL);
	memcpy(outcome->state, found.state, sizeof outcome->state);
	json_decref(found.result);
}

static const struct tune_budget evaluations = {.evaluations = 7};

static struct outcome tune_within(struct kernel *k, struct tune_budget budget, struct trial_counters counters,
                                  double timeout) {
	struct outcome outcome = {0};
	char *path = fixture_path("counters.db");
	remove(path);
	struct store *store = fixture_open(path);
	struct space *space = space_new();
	struct runner runner = {.ctx = k, .run = run};
	json_t *problem = json_pack("{s:i}", "n", 4), *baseline = json_pack("{s:i}", "block", 16);
	add_param(space, "block", k->values ? k->values : "16..1024*2", NULL);
	built(space);
	rng_seed(&k->rng, 5);
	struct tune_task task = {.kernel = "kernel",
	                         .source = "sha256:0",
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .start = UINT64_MAX,
	                         .strategy = strategy_find("auto"),
	                         .seed = 3,
	                         .budget = budget,
	                         .counters = counters,
	                         .limits.timeout_s = timeout,
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.now = budget.seconds > 0 ? clock_read : NULL,
	                         .hooks.now_ctx = k,
	                         .hooks.interrupt = &k->interrupt};
	outcome.failed = space_config_read(space, baseline, NULL, &task.start, &outcome.err) ||
	                 tune_run(&task, NULL, &outcome.result, &outcome.err);
	state_read(store, &outcome);
	json_decref(problem);
	json_decref(baseline);
	space_free(space);
	store_close(store);
	free(path);
	return outcome;
}

static struct outcome tune(struct kernel *k, struct trial_counters counters, double timeout) {
	return tune_within(k, evaluations, counters, timeout);
}

static const char *const words[] = {"MEM", NULL};

static const json_t *setup_of(const struct outcome *outcome, const char *key) {
	return json_object_get(outcome->result, key);
}

static const json_t *counter_of(const json_t *setup, size_t i) {
	return json_array_get(json_object_get(setup, "counters"), i);
}

static void check_order(void) {
	struct kernel k = {0};
	struct outcome outcome = tune(&k, (struct trial_counters){.asked = words}, 0);
	const json_t *best = setup_of(&outcome, "best"), *liar = counter_of(best, 1);
	const json_t *metric = json_array_get(json_object_get(best, "metrics"), 0);
	ok(!outcome.failed && k.counted >= 2, "%d configurations are counted", k.counted);
	ok(k.blocks[0] == 16 && k.blocks[1] == block_of(json_object_get(best, "config")), "the baseline, then the winner");
	ok(k.first_counted > k.last_plain, "after all timed runs");
	ok(k.timeout_counted > k.timeout_plain, "counted runs have more time than others");
	ok(outcome.stored == k.counted, "each is a trial in the store");
	ok(js_real_or(counter_of(setup_of(&outcome, "baseline"), 0), "value", 0) == 32, "the baseline has its counters");
	ok(js_real_or(counter_of(best, 0), "value", 0) == 2.0 * k.blocks[1], "the best has its counters");
	ok(json_is_null(json_object_get(liar, "value")) && *js_string_or(liar, "reason", ""), "0 is not a count");
	ok(js_real_or(metric, "value", 0) == 64.0 * k.blocks[1], "the best has metrics");
	const json_t *counting = json_object_get(outcome.result, "counting");
	ok(js_int_or(counting, "configurations", 0) == k.counted && js_real_or(counting, "start_stop_s", 0) == 2e-6,
	   "the cost of counting is reported");
	ok(json_is_number(json_object_get(counting, "overhead")), "the overhead of counting is reported");
	json_decref(outcome.result);
}

static void check_off(void) {
	struct kernel k = {0};
	struct outcome outcome = tune(&k, (struct trial_counters){.asked = NULL}, 0);
	ok(k.counted == 0 && !json_object_get(outcome.result, "counting"), "nothing is counted unless requested");
	json_decref(outcome.result);
}

static void check_every(void) {
	struct kernel k = {0};
	struct outcome outcome = tune(&k, (struct trial_counters){.asked = words, .every = true}, 0);
	ok(k.first_counted == 1, "counting starts with the first trial where all trials are counted");
	ok(k.counted > (int)js_int_or(json_object_get(outcome.result, "counting"), "configurations", 99),
	   "the finalists are counted again where all trials are counted");
	json_decref(outcome.result);
}

static void check_failures(void) {
	struct kernel k = {.failing = 16};
	struct outcome outcome = tune(&k, (struct trial_counters){.asked = words}, 0);
	const json_t *failure = json_array_get(json_object_get(json_object_get(outcome.result, "counting"), "failures"), 0);
	ok(!outcome.failed, "a failing counted run does not fail the tune");
	is_text(js_string_or(failure, "reason", ""), "it fell over", "the reason of a failing counted run is reported");
	ok(!json_object_get(setup_of(&outcome, "baseline"), "counters"),
	   "the baseline whose counted run fails has no counters");
	json_decref(outcome.result);
	struct kernel broken = {.broken = true};
	outcome = tune(&broken, (struct trial_counters){.asked = words}, 0);
	ok(!outcome.failed && json_object_get(outcome.result, "best"),
	   "a runner that breaks while counting does not fail the tune");
	json_decref(outcome.result);
	struct kernel silent = {.silent = true};
	outcome = tune(&silent, (struct trial_counters){.asked = words}, 0);
	ok(!outcome.failed && js_int_or(json_object_get(outcome.result, "counting"), "configurations", 9) == 0,
	   "a runner that cannot count does not fail the tune");
	json_decref(outcome.result);
}

static void check_interrupt(void) {
	for (int at = 1; at <= 2; at++) {
		struct kernel k = {.interrupt_at = at};
		struct outcome outcome = tune(&k, (struct trial_counters){.asked = words}, 0);
		ok(outcome.failed && outcome.err.code == ERR_INTERRUPTED, "interrupted in counted run %d", at);
		ok(json_is_object(json_object_get(outcome.result, "speedup")), "the result is there");
		is_text(outcome.state, "done",
		        "a search that is interrupted while it counts is complete, and nothing is left to resume");
		ok(k.counted == at, "nothing more is counted");
		json_decref(outcome.result);
	}
}

static void check_timeout(void) {
	struct kernel k = {0}, slow = {0};
	struct outcome outcome = tune(&k, (struct trial_counters){.asked = words}, 3);
	ok(k.timeout_counted == 3, "a limit set by the user holds");
	json_decref(outcome.result);
	outcome = tune(&slow, (struct trial_counters){.asked = words, .slow = true}, 0);
	ok(slow.timeout_counted > 100 * slow.timeout_plain, "a simulator gets far more time");
	json_decref(outcome.result);
}

/* Requested counters of a search with a budget in seconds. */
static void check_promise(void) {
	const struct tune_budget minute = {.seconds = 60};
	const char *const many = "16..1024+8";
	struct trial_counters asked = {.asked = words};
	struct kernel k = {.values = many, .plain_s = 0.5, .counted_s = 10};
	struct outcome outcome = tune_within(&k, minute, asked, 0);
	const json_t *best = setup_of(&outcome, "best");
	ok(!outcome.failed && k.first_counted > 5 && k.first_counted < k.last_plain,
	   "within a budget, counting begins in the middle of the search: after %d of %d trials", k.first_counted - 1,
	   k.last_plain);
	ok(k.blocks[0] == block_of(json_object_get(best, "config")) && k.blocks[1] == 16,
	   "the best so far is counted first, and the baseline after the finals");
	ok(json_object_get(setup_of(&outcome, "baseline"), "counters") && json_object_get(best, "counters"),
	   "both are told");
	ok(k.clock <= 60 * 1.05, "counting keeps within the budget: %.1f s", k.clock);
	ok(js_int_or(outcome.result, "pairs", 0) > 1, "the winner is proven although it is counted");
	json_decref(outcome.result);

	struct kernel slow = {.values = many, .plain_s = 0.5, .counted_s = 100};
	outcome = tune_within(&slow, minute, asked, 0);
	const json_t *counting = json_object_get(outcome.result, "counting");
	const char *reason = js_string_or(json_array_get(json_object_get(counting, "failures"), 0), "reason", "");
	ok(!outcome.failed && slow.clock <= 60 * 1.05, "counting that takes longer is cut: %.1f s", slow.clock);
	ok(strstr(reason, "longer than the 13 s"), "the limit on counting is the reason: %s", reason);
	ok(js_int_or(outcome.result, "pairs", 0) > 1, "counting that is cut does not cost the proof");
	json_decref(outcome.result);

	struct kernel optional = {.values = many, .plain_s = 0.5, .counted_s = 10};
	asked.optional = true;
	outcome = tune_within(&optional, minute, asked, 0);
	ok(optional.first_counted > optional.last_plain, "counters that nobody requested come last");
	json_decref(outcome.result);

	/* Counters that nobody asked for take what is left. */
	const struct tune_budget short_one = {.seconds = 20};
	struct kernel set_up = {.values = many, .plain_s = 0.12, .counted_s = 2, .begin_s = 1.5};
	outcome = tune_within(&set_up, short_one, asked, 0);
	ok(!outcome.failed && set_up.clock <= 21, "counters that nobody requested keep within the budget: %d after %.1f s",
	   set_up.counted, set_up.clock);
	ok(js_int_or(outcome.result, "pairs", 0) > 1, "the winner is proven before anything is counted");
	json_decref(outcome.result);
}

int main(void) {
	fixture_begin();
	check_promise();
	check_order();
	check_off();
	check_every();
	check_failures();
	check_interrupt();
	check_timeout();
	return fixture_end();
}
