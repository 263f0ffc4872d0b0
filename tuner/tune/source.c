/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/tune/source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "tuner/race/deviation.h"
#include "tuner/trial/trial.h"

/* A configuration of the earlier search. */
struct seen {
	uint64_t index;
	double away; /* distance of its values from the levels they were mapped to */
	size_t order;
	struct strategy_outcome outcome;
};

struct reading {
	const struct space *space;
	uint64_t start;
	json_t *known; /* configuration text -> index in seen; -1: it cannot be mapped */
	struct seen *seen;
	size_t count;
};

static double log_distance(double a, double b) {
	if (a == b)
		return 0;
	return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY;
}

/* The level with this value, or with the nearest number if the value lies between two levels; -1: none. */
static int level_of(const struct space *space, size_t param, struct value wanted, double *away) {
	double number = value_number(wanted), best = INFINITY;
	bool over = false, under = false;
	int level = -1;
	for (size_t i = 0; i < space_param_values(space, param); i++) {
		struct value value = space_param_value(space, param, i);
		if (value_equal(value, wanted)) {
			*away = 0;
			return (int)i;
		}
		double distance = log_distance(number, value_number(value));
		over = over || value_number(value) > number;
		under = under || value_number(value) < number;
		if (distance < best) {
			best = distance;
			level = (int)i;
		}
	}
	*away = best;
	return over && under ? level : -1;
}

/* Maps a configuration to values of this space; NULL if that is not possible. */
static json_t *config_mapped(const struct space *space, const json_t *config, double *away) {
	json_t *mapped = json_object(), *member;
	const char *name;
	*away = 0;
	json_object_foreach((json_t *)config, name, member) {
		struct value value;
		double distance = 0;
		int param = space_param_find(space, name);
		int level =
			param >= 0 && value_from_json(member, &value) ? level_of(space, (size_t)param, value, &distance) : -1;
		if (level < 0) {
			json_decref(mapped);
			return NULL;
		}
		*away += distance;
		json_object_set_new(mapped, name, value_json(space_param_value(space, (size_t)param, (size_t)level)));
	}
	return mapped;
}

static bool index_of(const struct reading *reading, const char *text, uint64_t *index, double *away) {
	json_t *config = js_parse(text, strlen(text), "a configuration", NULL);
	json_t *mapped = json_is_object(config) ? config_mapped(reading->space, config, away) : NULL;
	const uint64_t *fallback = reading->start == UINT64_MAX ? NULL : &reading->start;
	bool good = mapped && space_config_read(reading->space, mapped, fallback, index, NULL) == 0;
	json_decref(mapped);
	json_decref(config);
	return good;
}

/* -1: it cannot be mapped to this space. */
static int64_t seen_find(struct reading *reading, const char *config) {
	const json_t *known = json_object_get(reading->known, config);
	if (known)
		return json_integer_value(known);
	struct seen fresh = {.order = reading->count, .outcome.result = STRATEGY_FAILURE};
	int64_t at = -1;
	if (index_of(reading, config, &fresh.index, &fresh.away)) {
		at = (int64_t)reading->count;
		reading->seen = mem_grow(reading->seen, reading->count + 1, sizeof *reading->seen);
		reading->seen[reading->count++] = fresh;
	}
	json_object_set_new(reading->known, config, json_integer(at));
	return at;
}

/* The last row of a configuration holds its merged value, unless that attempt failed. */
static int row_use(void *ctx, const struct store_trial *trial) {
	struct reading *reading = ctx;
	enum trial_status status;
	int64_t at = trial_status_find(trial->status, &status) ? seen_find(reading, trial->config) : -1;
	if (at < 0)
		return 0;
	struct strategy_outcome *outcome = &reading->seen[at].outcome;
	if (trial->elapsed > 0 && isfinite(trial->elapsed))
		outcome->seconds += trial->elapsed;
	bool number = trial->value > 0 && isfinite(trial->value);
	if (outcome->result == STRATEGY_VALUE && status != TRIAL_CORRECT)
		return 0;
	if (status == TRIAL_CORRECT || status == TRIAL_CENSORED)
		outcome->result = !number ? STRATEGY_FAILURE : status == TRIAL_CORRECT ? STRATEGY_VALUE : STRATEGY_CENSORED;
	else
		outcome->result = STRATEGY_FAILURE;
	outcome->value = outcome->result == STRATEGY_FAILURE ? 0 : trial->value;
	outcome->deviation =
		outcome->result == STRATEGY_VALUE ? deviation_of_median(trial->samples, trial->sample_count) : 0;
	return 0;
}

static int by_index(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	if (x->away != y->away)
		return x->away < y->away ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static double rank(const struct strategy_outcome *outcome) {
	return outcome->result == STRATEGY_VALUE ? outcome->value : INFINITY;
}

static int by_value(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	if (rank(&x->outcome) != rank(&y->outcome))
		return rank(&x->outcome) < rank(&y->outcome) ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b) {
	const struct seen *x = a, *y = b;
	return (x->order > y->order) - (x->order < y->order);
}

static void twins_drop(struct reading *reading) {
	size_t kept = 0;
	if (reading->count)
		qsort(reading->seen, reading->count, sizeof *reading->seen, by_index);
	for (size_t i = 0; i < reading->count; i++)
		if (kept == 0 || reading->seen[kept - 1].index != reading->seen[i].index)
			reading->seen[kept++] = reading->seen[i];
	reading->count = kept;
}

static void thin(struct reading *reading) {
	const size_t max = SOURCE_OUTCOMES_MAX, half = max / 2;
	if (reading->count <= max)
		return;
	qsort(reading->seen, reading->count, sizeof *reading->seen, by_value);
	for (size_t i = 0; i < max - half; i++) {
		size_t from = half + i * (reading->count - half) / (max - half);
		reading->seen[half + i] = reading->seen[from];
	}
	reading->count = max;
}

static void data_make(struct reading *reading, struct tune_source_data *data) {
	twins_drop(reading);
	thin(reading);
	if (reading->count)
		qsort(reading->seen, reading->count, sizeof *reading->seen, by_order);
	data->count = reading->count;
	data->index = mem_alloc(reading->count + 1, sizeof *data->index);
	data->outcome = mem_alloc(reading->count + 1, sizeof *data->outcome);
	for (size_t i = 0; i < reading->count; i++) {
		data->index[i] = reading->seen[i].index;
		data->outcome[i] = reading->seen[i].outcome;
	}
}

int tune_source_read(struct store *store, int64_t search, int64_t until, const struct space *space, uint64_t start,
                     struct tune_source_data *data, struct err *err) {
	struct reading reading = {.space = space, .start = start, .known = json_object()};
	*data = (struct tune_source_data){0};
	int failed = store_evaluations_each(store, search, until, row_use, &reading, err);
	if (!failed)
		data_make(&reading, data);
	free(reading.seen);
	json_decref(reading.known);
	return failed;
}

void tune_source_clear(struct tune_source_data *data) {
	free(data->index);
	free(data->outcome);
	*data = (struct tune_source_data){0};
}
