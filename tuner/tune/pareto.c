/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two objectives: the values of each configuration in both, and the Pareto front. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/stats.h"
#include "tuner/model/pareto.h"
#include "tuner/tune/state.h"
#include "tuner/race/unsafe.h"

/* Points of the front differ by more than this, or than the noise floor. */
static const double NOISE_LEAST = 0.01;

static double of_sample(enum trial_objective objective, double seconds, double joules) {
	static const double powers[TRIAL_OBJECTIVE_COUNT][2] = {
		[TRIAL_OBJECTIVE_TIME] = {1, 0}, [TRIAL_OBJECTIVE_ENERGY] = {0, 1}, [TRIAL_OBJECTIVE_EDP] = {1, 1}};
	return pow(seconds, powers[objective][0]) * pow(joules, powers[objective][1]);
}

/* The median of an objective over a trial's samples; NAN if seconds or joules are missing. */
static double of_trial(const json_t *reply, enum trial_objective objective) {
	const json_t *seconds = json_object_get(reply, "samples"), *joules = json_object_get(reply, "energy_j");
	size_t count = json_array_size(seconds);
	if (count == 0 || json_array_size(joules) != count)
		return NAN;
	double *values = mem_alloc(count, sizeof *values), median = NAN;
	bool good = true;
	for (size_t i = 0; i < count; i++) {
		double second = json_number_value(json_array_get(seconds, i)),
			   joule = json_number_value(json_array_get(joules, i));
		values[i] = of_sample(objective, second, joule);
		good = good && second > 0 && joule > 0 && isfinite(values[i]) && values[i] > 0;
	}
	if (good)
		median = stats_median(values, count);
	free(values);
	return median;
}

void tune_pareto_record(struct tune *tune, const json_t *config, const struct trial_result *result) {
	const struct tune_task *task = tune->task;
	if (!task->goal.pareto || result->status != TRIAL_CORRECT)
		return;
	double first = of_trial(result->reply, task->goal.objective), second = of_trial(result->reply, task->goal.second);
	if (isnan(first) || isnan(second))
		return;
	char *key = js_canonical(config);
	json_t *entry = json_object_get(tune->finals.both, key);
	if (!entry) {
		entry = json_pack("{s:o,s:[],s:[]}", "config", json_deep_copy(config), "first", "second");
		json_object_set_new(tune->finals.both, key, entry);
	}
	json_array_append_new(json_object_get(entry, "first"), json_real(first));
	json_array_append_new(json_object_get(entry, "second"), json_real(second));
	free(key);
}

static double median_member(const json_t *entry, const char *key) {
	const json_t *array = json_object_get(entry, key);
	size_t count = json_array_size(array);
	double *values = mem_alloc(count, sizeof *values), median;
	for (size_t i = 0; i < count; i++)
		values[i] = json_number_value(json_array_get(array, i));
	median = stats_median(values, count);
	free(values);
	return median;
}

static bool is_unsafe(const struct tune *tune, const json_t *config) {
	struct err err = {0};
	bool unsafe = false;
	return unsafe_holds(tune->task->unsafe, tune->task->problem, config, &unsafe, &err) || unsafe;
}

static json_t *row_json(const struct tune *tune, const json_t *entry, const double values[2]) {
	const struct tune_task *task = tune->task;
	return json_pack("{s:O,s:f,s:f,s:I}", "config", json_object_get(entry, "config"),
	                 trial_objective_word(task->goal.objective), values[0], trial_objective_word(task->goal.second),
	                 values[1], "trials", (json_int_t)json_array_size(json_object_get(entry, "first")));
}

json_t *tune_pareto(const struct tune *tune) {
	size_t room = json_object_size(tune->finals.both), count = 0, *front = mem_alloc(room + 1, sizeof *front);
	double(*values)[2] = mem_alloc(room + 1, sizeof *values);
	const json_t **entries = mem_alloc(room + 1, sizeof *entries);
	double floor = tune->finals.dueled ? duel_noise_floor(&tune->finals.duel) : NAN;
	json_t *array = json_array(), *entry;
	const char *key;
	json_object_foreach(tune->finals.both, key, entry) {
		if (is_unsafe(tune, json_object_get(entry, "config")))
			continue;
		values[count][0] = median_member(entry, "first");
		values[count][1] = median_member(entry, "second");
		entries[count++] = entry;
	}
	size_t kept = (size_t)pareto_front((const double(*)[2])values, count, front);
	kept = (size_t)pareto_thin((const double(*)[2])values, front, kept, fmax(NOISE_LEAST, floor));
	for (size_t i = 0; i < kept; i++)
		json_array_append_new(array, row_json(tune, entries[front[i]], values[front[i]]));
	free(front);
	free(values);
	free(entries);
	return array;
}
