/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An interrupted search recommends by all measurements of a configuration: what was lucky once and slow when it was
 * measured again is not the best any more. */
#include <string.h>

#include "tests/tuner/tune/spy.h"
#include "tuner/store/store.h"

static volatile int interrupt;
static const double TIMES_SLOWER = 100;

/* The spied kernel, interrupted after `left` trials. */
struct ending {
	struct spy_kernel kernel;
	int left;
};

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct ending *ending = ctx;
	struct runner runner = spy_runner(&ending->kernel);
	interrupt = --ending->left <= 0;
	return runner.run(runner.ctx, request, result, err);
}

/* Ends early, from the beginning or from the store. */
static json_t *tune(struct store *store, int64_t resume, int trials) {
	struct ending ending = {.left = trials};
	struct runner runner = {.ctx = &ending, .run = run};
	struct space *space = spy_space("1..64*2");
	struct tune_task task = spy_task(store, space, &runner, 1000, 30);
	struct err err = {0};
	json_t *result = NULL;
	task.resume = resume;
	task.hooks.interrupt = &interrupt;
	interrupt = 0;
	ok(tune_run(&task, NULL, &result, &err) && err.code == ERR_INTERRUPTED, "a search is interrupted");
	spy_task_clear(&task);
	space_free(space);
	return result;
}

/* As if the best had been measured again after the interruption. */
static void probe_add(struct store *store, const json_t *result) {
	const json_t *best = json_object_get(result, "best");
	double value = TIMES_SLOWER * js_real_or(best, "median", 0);
	struct err err = {0};
	struct trial_result trial = {.status = TRIAL_CORRECT, .value = value, .least = value, .samples = &value};
	trial.sample_count = 1;
	trial.reply = json_pack("{s:[f]}", "samples", value);
	ok(!trial_store(store, js_int_or(result, "search", 0), "probe", 0, json_object_get(best, "config"), &trial, &err),
	   "a probe of its best is stored");
	json_decref(trial.reply);
}

/* The least of the values that the strategy was told, but for one configuration. */
static double least_but(uint64_t index) {
	double least = INFINITY;
	for (size_t i = 0; i < spy_book.count; i++)
		if (spy_book.told[i].outcome.result == STRATEGY_VALUE && spy_book.told[i].index != index)
			least = fmin(least, spy_book.told[i].outcome.value);
	return least;
}

int main(void) {
	fixture_begin();
	spy_book_clear();
	char *path = fixture_path("again.db");
	struct store *store = fixture_open(path);
	struct space *space = spy_space("1..64*2");
	json_t *first = tune(store, 0, 13);
	const json_t *lucky = json_object_get(json_object_get(first, "best"), "config");
	uint64_t index = UINT64_MAX;
	ok(lucky && !space_config_read(space, lucky, NULL, &index, NULL), "the first search has a best");
	probe_add(store, first);
	json_t *second = tune(store, 1, 1), *best = json_object_get(second, "best");
	ok(best && !json_equal(json_object_get(best, "config"), lucky), "another one is recommended once it is resumed");
	ok(js_real_or(best, "median", 0) == least_but(index), "the one with the least value among the others");
	json_decref(first);
	json_decref(second);
	space_free(space);
	store_close(store);
	free(path);
	return fixture_end();
}
