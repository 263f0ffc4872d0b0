/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effects that a finished search reports for its parameters, and its choice of the runner-up. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/tune/session_impl.h"

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

struct finalist {
	int threads, chunk;
	double median;
	int blocks;
	bool alive;
};

static json_t *config_json(int threads, int chunk) {
	return json_pack("{s:i,s:s,s:i}", "threads", threads, "schedule", "dynamic", "chunk", chunk);
}

/* The first finalist is the best. want: threads and chunk of the runner-up; 0: none. */
static void runner_up_is(const struct tune_task *task, const struct finalist *finalists, size_t count, double floor,
                         const struct finalist *want, const char *why, const char *what) {
	struct tune tune = {.task = task, .finals = {.finalists = json_array()}};
	if (floor > 0)
		tune.finals.duel.control = (struct paired){.ratio = 1, .ci = {1 - floor, 1 + floor / 2}, .count = 21};
	tune.finals.best_config = config_json(finalists[0].threads, finalists[0].chunk);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(tune.finals.finalists, json_pack("{s:o,s:f,s:i,s:b}", "config",
		                                                       config_json(finalists[i].threads, finalists[i].chunk),
		                                                       "median", finalists[i].median, "blocks",
		                                                       finalists[i].blocks, "alive", finalists[i].alive));
	json_t *found = tune_runner_up(&tune), *config = want ? config_json(want->threads, want->chunk) : NULL;
	ok(want ? json_equal(json_object_get(found, "config"), config) &&
	              fabs(js_real_or(found, "ratio", NAN) - want->median / finalists[0].median) < 1e-9
	        : !found,
	   "%s", what);
	if (why)
		is_text(js_string_or(found, "why", ""), why, what);
	json_decref(found);
	json_decref(config);
	json_decref(tune.finals.best_config);
	json_decref(tune.finals.finalists);
}

static void test_runner_up(const struct tune_task *task) {
	const struct finalist field[] = {
		{4, 16, 1, 9, true}, {8, 16, 1.002, 9, true}, {2, 16, 1.008, 9, true}, {1, 16, 1.02, 9, true}};
	runner_up_is(task, field, 4, 0, &field[2], "within the noise, with 2 fewer threads", "the cheaper one within 1 %");
	runner_up_is(task, field, 2, 0, &field[1], "within the noise, with 4 more threads",
	             "the next best if none is cheaper");
	runner_up_is(task, field, 1, 0, NULL, NULL, "none besides the best");
	const struct finalist slow[] = {{4, 16, 1, 9, true}, {2, 16, 1.02, 9, true}, {1, 16, 1.05, 9, true}};
	runner_up_is(task, slow, 3, 0, NULL, NULL, "none within the noise");
	runner_up_is(task, slow, 3, 0.03, &slow[1], NULL, "the noise floor decides who is within");
	const struct finalist lost[] = {{4, 16, 1, 9, true}, {2, 16, 1, 9, false}, {1, 16, 1, 0, true}};
	runner_up_is(task, lost, 3, 0, NULL, NULL, "entries that dropped out or did not race are excluded");
	const struct finalist settings[] = {{2, 16, 1, 9, true}, {2, 32, 1.001, 9, true}};
	runner_up_is(task, settings, 2, 0, &settings[1], "within the noise, with 1 fewer changed setting",
	             "closer to today");
	const struct finalist today[] = {{8, 16, 1, 9, true}, {4, 32, 1.001, 9, true}};
	runner_up_is(task, today, 2, 0, &today[1], "within the noise, and what runs today", "today's");
	const struct finalist broken[] = {{4, 16, 0, 9, true}, {2, 16, 0, 9, true}};
	runner_up_is(task, broken, 2, 0, NULL, NULL, "invalid medians");
	struct tune nothing = {.task = task};
	ok(!tune_runner_up(&nothing), "no race, no runner-up");
}

int main(void) {
	struct space *space = space_make();
	json_t *baseline = config_json(4, 32);
	const struct tune_task task = {.space = space, .baseline = baseline};
	test_effects(&task);
	test_cut_short(&task);
	test_runner_up(&task);
	json_decref(baseline);
	space_free(space);
	return tap_done();
}
