/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effects that a finished search reports for its parameters. */
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/tune/bench_impl.h"

static struct space *space_make(void) {
	struct value threads[4], schedules[2] = {value_word("static"), value_word("dynamic")}, chunks[3];
	struct space *space = space_new();
	struct err err = {0};
	for (int i = 0; i < 4; i++)
		threads[i] = value_int(1 << i);
	for (int i = 0; i < 3; i++)
		chunks[i] = value_int(16 << i);
	bool failed = space_add_param(space, "threads", "", threads, 4, NULL, &err) ||
	              space_add_param(space, "schedule", "", schedules, 2, NULL, &err) ||
	              space_add_param(space, "chunk", "", chunks, 3, "schedule == 'dynamic'", &err) ||
	              space_build(space, &err);
	ok(!failed && space_valid(space) == 16, "a space: %s", failed ? err.what : "fine");
	return space;
}

/* Twice the threads take half the time; dynamic takes 1.2 times as long; chunks have no effect. The slowest eighth of
 * the rows was cut short. */
static void worked_fill(struct tune *tune, const struct space *space) {
	int config[SPACE_PARAMS_MAX];
	for (uint64_t index = 0; index < space_valid(space); index++) {
		space_config(space, index, config);
		double value = 0.8 / (1 << config[0]) * (config[1] ? 1.2 : 1) * (1 + 0.004 * sin(9.0 * (double)index));
		tune->memory.worked[tune->memory.worked_count++] =
			(struct measured){index, config[0] == 0 && config[1] == 0 ? INFINITY : value, value, 1, 0};
	}
	tune->memory.worked[tune->memory.worked_count++] =
		(struct measured){0, INFINITY, INFINITY, 1, 0}; /* has no effect in the result */
	tune->memory.worked[tune->memory.worked_count++] = (struct measured){0, 0, 0, 1, 0};
}

static bool is_effect(const json_t *effect, const char *param, double ratio, const char *best, const char *worst) {
	const json_t *ci = json_object_get(effect, "ci");
	char *found = js_canonical(json_object_get(effect, "best")),
		 *other = js_canonical(json_object_get(effect, "worst"));
	bool is = strcmp(js_string_or(effect, "param", ""), param) == 0 && js_bool_or(effect, "known", false) &&
	          fabs(log(js_real_or(effect, "ratio", NAN) / ratio)) < 0.05 &&
	          json_real_value(json_array_get(ci, 0)) <= ratio && ratio <= json_real_value(json_array_get(ci, 1)) &&
	          (!best || (found && other && strcmp(found, best) == 0 && strcmp(other, worst) == 0));
	char *text = json_dumps(effect, JSON_ENCODE_ANY);
	printf("# %s\n", text);
	free(text);
	free(found);
	free(other);
	return is;
}

static void test_effects(const struct tune_task *task) {
	struct measured worked[32];
	struct tune tune = {.task = task, .memory = {.worked = worked}};
	worked_fill(&tune, task->space);
	json_t *effects = tune_effects(&tune);
	ok(json_array_size(effects) == 3, "one of each parameter");
	ok(is_effect(json_array_get(effects, 0), "threads", 8, "8", "1"), "trials that were cut short count: threads");
	ok(is_effect(json_array_get(effects, 1), "schedule", 1.2, "\"static\"", "\"dynamic\""), "schedule");
	ok(is_effect(json_array_get(effects, 2), "chunk", 1, NULL, NULL), "chunk, among rows that have one");
	json_decref(effects);
	tune.memory.worked_count = 0;
	effects = tune_effects(&tune);
	ok(json_array_size(effects) == 3 && json_is_false(json_object_get(json_array_get(effects, 0), "known")) &&
	       !json_object_get(json_array_get(effects, 0), "ratio"),
	   "a search without results has no effects");
	json_decref(effects);
}

/* One thread is cut short before its first sample, except once. */
static void test_cut_short(const struct tune_task *task) {
	struct measured worked[32];
	struct tune tune = {.task = task, .memory = {.worked = worked}};
	struct err err;
	int config[SPACE_PARAMS_MAX], kept = 0;
	tune.search = search_new(strategy_find("random"),
	                         &(struct strategy_task){.space = task->space, .seed = 1, .start = UINT64_MAX}, &err);
	worked_fill(&tune, task->space);
	size_t all = tune.memory.worked_count;
	tune.memory.worked_count = 0;
	for (size_t i = 0; i < all; i++) {
		space_config(task->space, worked[i].index, config);
		if (config[0] == 0 && isfinite(worked[i].least) && worked[i].least > 0 && kept++)
			search_tell_value(tune.search, worked[i].index, STRATEGY_CENSORED, 0.125);
		else
			worked[tune.memory.worked_count++] = worked[i];
	}
	json_t *effects = tune_effects(&tune);
	ok(history_count(search_history(tune.search)) == 3 && tune.memory.worked_count < all,
	   "three are only known to be slow");
	ok(is_effect(json_array_get(effects, 0), "threads", 8, "8", "1"),
	   "trials that are only known to be slow support the single measurement");
	json_decref(effects);
	search_free(tune.search);
}

int main(void) {
	struct space *space = space_make();
	json_t *baseline = json_pack("{s:i,s:s,s:i}", "threads", 4, "schedule", "dynamic", "chunk", 32);
	const struct tune_task task = {.space = space, .baseline = baseline};
	test_effects(&task);
	test_cut_short(&task);
	json_decref(baseline);
	space_free(space);
	return tap_done();
}
