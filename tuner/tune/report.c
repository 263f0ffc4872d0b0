/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "tuner/tune/state.h"

static void remember(struct tune *tune, uint64_t index, double value, const struct trial_result *result) {
	tune->memory.worked = mem_grow(tune->memory.worked, tune->memory.worked_count + 1, sizeof *tune->memory.worked);
	tune->memory.worked[tune->memory.worked_count++] =
		(struct measured){.index = index,
	                      .value = value,
	                      .promise = result->least > 0 ? result->least : value,
	                      .wall = tune_wall(result),
	                      .times = 1};
	if (isfinite(value) && !(tune->memory.best <= value)) {
		tune->memory.best = value;
		tune->memory.best_index = index;
	}
}

void tune_remember(struct tune *tune, uint64_t index, const struct trial_result *result) {
	if (result->status == TRIAL_CORRECT)
		remember(tune, index, result->value, result);
	else if (result->status == TRIAL_CENSORED && result->least > 0)
		remember(tune, index, INFINITY, result);
}

void tune_counters_name(struct tune *tune, const struct trial_result *result) {
	const json_t *rows = json_object_get(result->reply, "counters");
	json_t *row, *seen = json_object();
	size_t i;
	tune->counting.names = json_array();
	json_array_foreach((json_t *)rows, i, row) {
		const char *name = js_string_or(row, "name", "");
		if (*name && !json_object_get(seen, name)) {
			json_array_append_new(tune->counting.names, json_string(name));
			json_object_set_new(seen, name, json_true());
		}
	}
	json_decref(seen);
}

/* The values of the counters, NAN for those not counted; NULL: none was counted. The caller frees the array. */
static double *counters_of(const struct tune *tune, const struct trial_result *result) {
	size_t count = json_array_size(tune->counting.names), i;
	const json_t *rows = json_object_get(result->reply, "counters");
	double *values = count && json_array_size(rows) ? mem_alloc(count, sizeof *values) : NULL;
	json_t *values_by_name = json_object(), *row;
	json_array_foreach((json_t *)rows, i, row) {
		json_t *value = json_object_get(row, "value");
		if (json_is_number(value))
			json_object_set(values_by_name, js_string_or(row, "name", ""), value);
	}
	for (i = 0; values && i < count; i++) {
		const char *name = json_string_value(json_array_get(tune->counting.names, i));
		values[i] = js_real_or(values_by_name, name, NAN);
	}
	json_decref(values_by_name);
	return values;
}

/* A program that was ended at its time limit takes at least that long: an observation, unlike a crash. */
static bool tells_least(const struct tune *tune, const struct trial_result *result) {
	return result->status == TRIAL_TIMEOUT && tune->task->whole_programs && !tune->task->goal.metric;
}

/* A build that was given up tells how long it takes at least. */
static bool was_given_up(const struct tune *tune, uint64_t index) {
	if (!tune->task->builder)
		return false;
	json_t *config = space_config_json(tune->task->space, index);
	bool gave_up = builder_gave_up(tune->task->builder, config);
	json_decref(config);
	return gave_up;
}

void tune_outcome_report(struct tune *tune, uint64_t index, const struct trial_result *result) {
	struct strategy_outcome outcome = {.result = STRATEGY_FAILURE,
	                                   .seconds = tune->bench.current.seconds + tune->bench.current.build_seconds,
	                                   .build = tune->bench.current.build_seconds};
	double *counters = counters_of(tune, result);
	tune_remember(tune, index, result);
	if (result->status == TRIAL_CORRECT) {
		outcome.result = STRATEGY_VALUE;
		outcome.value = result->value;
		outcome.deviation = tune->bench.current.deviation; /* of the value, which is a median or the mean of two */
	} else if (result->status == TRIAL_CENSORED) {
		outcome.result = STRATEGY_CENSORED;
		outcome.value = result->value;
	}
	if (tells_least(tune, result)) {
		outcome.result = STRATEGY_CENSORED;
		outcome.value = tune_request(tune, NULL).timeout_s;
	}
	outcome.given_up = result->status == TRIAL_COMPILE && was_given_up(tune, index);
	outcome.counters = counters;
	search_tell(tune->search, index, &outcome);
	free(counters);
}
