/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "tuner/model/effects.h"
#include "tuner/tune_state.h"

static const double TIE_MARGIN = 0.01;

/* What was cut short counts with its smallest sample, which is less than it takes: leaving it out would leave out all
 * that is slow, and what made it so. */
static double cost_of(const struct measured *measured) {
	return isfinite(measured->value) ? measured->value : measured->promise;
}

static size_t data_fill(const struct tune *tune, int *places, double *cost) {
	size_t rows = 0, params = space_params(tune->task->space);
	int config[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < tune->worked_count; i++) {
		double seconds = cost_of(&tune->worked[i]);
		if (!(seconds > 0) || !isfinite(seconds))
			continue;
		space_config(tune->task->space, tune->worked[i].index, config);
		for (size_t p = 0; p < params; p++)
			places[rows * params + p] = config[p] == SPACE_ABSENT ? EFFECTS_ABSENT : config[p];
		cost[rows++] = seconds;
	}
	return rows;
}

static json_t *place_json(const struct space *space, size_t param, int place) {
	return value_json(space_param_value(space, param, (size_t)place));
}

static json_t *effect_json(const struct space *space, size_t param, const struct effect *effect) {
	json_t *object = json_pack("{s:s,s:b,s:I}", "param", space_param_name(space, param), "known", effect->known, "seen",
	                           (json_int_t)effect->seen);
	if (effect->known) {
		json_object_set_new(object, "ratio", js_number(effect->ratio));
		json_object_set_new(object, "ci", js_reals(effect->ci, 2));
		json_object_set_new(object, "best", place_json(space, param, effect->best));
		json_object_set_new(object, "worst", place_json(space, param, effect->worst));
	}
	return object;
}

json_t *tune_effects(const struct tune *tune) {
	const struct space *space = tune->task->space;
	size_t params = space_params(space), levels[SPACE_PARAMS_MAX];
	int *places = mem_alloc(tune->worked_count * params + 1, sizeof *places);
	double *cost = mem_alloc(tune->worked_count + 1, sizeof *cost);
	struct effect effects[SPACE_PARAMS_MAX];
	struct effects_data data = {.params = params, .levels = levels, .places = places, .cost = cost};
	json_t *array = json_array();
	for (size_t p = 0; p < params; p++)
		levels[p] = space_param_values(space, p);
	data.rows = data_fill(tune, places, cost);
	effects_fit(&data, effects); /* too little data: none of them is known */
	for (size_t p = 0; p < params; p++)
		json_array_append_new(array, effect_json(space, p, &effects[p]));
	free(places);
	free(cost);
	return array;
}

static double median_of(const json_t *finalist) {
	bool raced = js_int_or(finalist, "blocks", 0) > 0 && js_bool_or(finalist, "alive", false);
	double median = js_real_or(finalist, "median", NAN);
	return raced && median > 0 ? median : NAN;
}

static double best_median(const struct tune *tune) {
	size_t i;
	json_t *finalist;
	json_array_foreach(tune->finalists, i, finalist) {
		if (json_equal(json_object_get(finalist, "config"), tune->best_config))
			return median_of(finalist);
	}
	return NAN;
}

/* The fastest of those within the noise of the best; cheaper: of those that cost less than it. */
static const json_t *pick(const struct tune *tune, double limit, bool cheaper) {
	const json_t *baseline = tune->task->baseline, *picked = NULL;
	double own = tune_cost(tune->best_config, baseline);
	size_t i;
	json_t *finalist;
	json_array_foreach(tune->finalists, i, finalist) {
		const json_t *config = json_object_get(finalist, "config");
		double median = median_of(finalist);
		if (!(median <= limit) || json_equal(config, tune->best_config))
			continue;
		if (cheaper && !(tune_cost(config, baseline) < own))
			continue;
		limit = median;
		picked = finalist;
	}
	return picked;
}

static char *why_text(const struct tune *tune, const json_t *config) {
	const json_t *baseline = tune->task->baseline;
	double threads = (double)(js_int_or(config, "threads", 1) - js_int_or(tune->best_config, "threads", 1));
	double settings = tune_cost(config, baseline) - tune_cost(tune->best_config, baseline) - 1000 * threads;
	double more = threads != 0 ? threads : settings;
	if (json_equal(config, baseline))
		return mem_strdup("within the noise, what runs today");
	if (more == 0)
		return mem_strdup("within the noise");
	return mem_printf("within the noise, %.0f %s%s %s", fabs(more), threads != 0 ? "thread" : "changed setting",
	                  fabs(more) == 1 ? "" : "s", more < 0 ? "less" : "more");
}

json_t *tune_runner_up(const struct tune *tune) {
	double floor = duel_noise_floor(&tune->duel), best = best_median(tune);
	double limit = best * (1 + (floor > TIE_MARGIN ? floor : TIE_MARGIN));
	if (!tune->best_config || !(best > 0))
		return NULL;
	const json_t *picked = pick(tune, limit, true);
	if (!picked)
		picked = pick(tune, limit, false);
	if (!picked)
		return NULL;
	json_t *config = json_object_get(picked, "config");
	char *why = why_text(tune, config);
	json_t *object =
		json_pack("{s:O,s:o,s:s}", "config", config, "ratio", js_number(median_of(picked) / best), "why", why);
	free(why);
	return object;
}
