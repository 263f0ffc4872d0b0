/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effect of each parameter, and what follows for the recommendation: a setup without the changes that did not
 * matter, and a runner-up. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/model/effects/effects.h"
#include "tuner/tune/session_impl.h"

static const double TIE_MARGIN = 0.01;
struct rows {
	const struct space *space;
	size_t count;
	uint64_t *index; /* ascending up to `sorted` */
	size_t sorted;
	int *level;
	double *cost;
	bool *over;
};

static struct rows rows_new(const struct tune *tune) {
	struct rows rows = {.space = tune->task->space};
	size_t room = 1 + tune->memory.worked_count;
	if (tune->search)
		room += history_count(search_history(tune->search));
	rows.index = mem_alloc(room, sizeof *rows.index);
	rows.level = mem_alloc(room * (1 + space_params(rows.space)), sizeof *rows.level);
	rows.cost = mem_alloc(room, sizeof *rows.cost);
	rows.over = mem_alloc(room, sizeof *rows.over);
	return rows;
}

static void rows_free(struct rows *rows) {
	free(rows->index);
	free(rows->level);
	free(rows->cost);
	free(rows->over);
}

static void row_add(struct rows *rows, uint64_t index, double cost, bool over) {
	size_t params = space_params(rows->space);
	int config[SPACE_PARAMS_MAX];
	if (!(cost > 0) || !isfinite(cost))
		return;
	space_config(rows->space, index, config);
	for (size_t p = 0; p < params; p++)
		rows->level[rows->count * params + p] = config[p] == SPACE_ABSENT ? EFFECTS_ABSENT : config[p];
	rows->index[rows->count] = index;
	rows->over[rows->count] = over;
	rows->cost[rows->count++] = cost;
}

static int by_number(const void *a, const void *b) {
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static int by_index(const void *a, const void *b) {
	return by_number(&((const struct measured *)a)->index, &((const struct measured *)b)->index);
}

/* Adds a configuration that was cut short before its first sample: only its limit is known. */
static void outcome_add(void *ctx, uint64_t index, const struct strategy_outcome *outcome) {
	struct rows *rows = ctx;
	if (outcome->result == STRATEGY_CENSORED &&
	    !bsearch(&index, rows->index, rows->sorted, sizeof *rows->index, by_number))
		row_add(rows, index, outcome->value, true);
}

/* Trials that were cut short count with their smallest sample. Without them all slow configurations would be missing,
 * and with them the effect of whatever made them slow. */
static void rows_fill(struct rows *rows, const struct tune *tune) {
	struct measured *sorted = mem_alloc(tune->memory.worked_count + 1, sizeof *sorted);
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		sorted[i] = tune->memory.worked[i];
	qsort(sorted, tune->memory.worked_count, sizeof *sorted, by_index);
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		row_add(rows, sorted[i].index, isfinite(sorted[i].value) ? sorted[i].value : sorted[i].least, false);
	free(sorted);
	rows->sorted = rows->count;
	if (tune->search)
		history_each(search_history(tune->search), outcome_add, rows);
}

static json_t *level_json(const struct space *space, size_t param, int level) {
	return value_json(space_param_value(space, param, (size_t)level));
}

static json_t *effect_json(const struct space *space, size_t param, const struct effect *effect) {
	json_t *object = json_pack("{s:s,s:b,s:I}", "param", space_param_name(space, param), "known", effect->known, "seen",
	                           (json_int_t)effect->seen);
	if (effect->known) {
		json_object_set_new(object, "ratio", js_number(effect->ratio));
		json_object_set_new(object, "ci", js_reals(effect->ci, 2));
		json_object_set_new(object, "best", level_json(space, param, effect->best));
		json_object_set_new(object, "worst", level_json(space, param, effect->worst));
	}
	return object;
}

json_t *tune_effects(const struct tune *tune) {
	const struct space *space = tune->task->space;
	size_t params = space_params(space), levels[SPACE_PARAMS_MAX];
	struct effect effects[SPACE_PARAMS_MAX];
	struct rows rows = rows_new(tune);
	json_t *array = json_array();
	for (size_t p = 0; p < params; p++)
		levels[p] = space_param_values(space, p);
	rows_fill(&rows, tune);
	const struct effects_table data = {.rows = rows.count,
	                                   .params = params,
	                                   .levels = levels,
	                                   .level = rows.level,
	                                   .cost = rows.cost,
	                                   .over = rows.over};
	effects_fit(&data, effects); /* with too little data no effect is known */
	for (size_t p = 0; p < params; p++)
		json_array_append_new(array, effect_json(space, p, &effects[p]));
	rows_free(&rows);
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
	json_array_foreach(tune->finals.finalists, i, finalist) {
		if (json_equal(json_object_get(finalist, "config"), tune->finals.best_config))
			return median_of(finalist);
	}
	return NAN;
}

/* The fastest configuration within the noise of the best; cheaper: only among those that cost less. */
static const json_t *pick(const struct tune *tune, double limit, bool cheaper) {
	const json_t *baseline = tune->task->baseline, *picked = NULL;
	double own = tune_cost(tune->finals.best_config, baseline);
	size_t i;
	json_t *finalist;
	json_array_foreach(tune->finals.finalists, i, finalist) {
		const json_t *config = json_object_get(finalist, "config");
		double median = median_of(finalist);
		if (!(median <= limit) || json_equal(config, tune->finals.best_config))
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
	double threads = (double)(js_int_or(config, "threads", 1) - js_int_or(tune->finals.best_config, "threads", 1));
	double settings = tune_cost(config, baseline) - tune_cost(tune->finals.best_config, baseline) - 1000 * threads;
	double more = threads != 0 ? threads : settings;
	if (json_equal(config, baseline))
		return mem_strdup("within the noise, and what runs today");
	if (more == 0)
		return mem_strdup("within the noise");
	return mem_printf("within the noise, with %.0f %s %s%s", fabs(more), more < 0 ? "fewer" : "more",
	                  threads != 0 ? "thread" : "changed setting", fabs(more) == 1 ? "" : "s");
}

json_t *tune_runner_up(const struct tune *tune) {
	double floor = duel_noise_floor(&tune->finals.duel), best = best_median(tune);
	double limit = best * (1 + (floor > TIE_MARGIN ? floor : TIE_MARGIN));
	if (!tune->finals.best_config || !(best > 0))
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

/* A parameter clearly matters if the interval of its effect excludes 1. */
static bool matters(const json_t *effects, const char *param) {
	size_t i;
	json_t *effect;
	json_array_foreach((json_t *)effects, i, effect) {
		if (strcmp(js_string_or(effect, "param", ""), param) != 0)
			continue;
		double low = json_number_value(json_array_get(json_object_get(effect, "ci"), 0));
		return js_bool_or(effect, "known", false) && low > 1.01;
	}
	return false;
}

static void put_back(json_t *config, const json_t *baseline, const char *param) {
	json_t *today = json_object_get(baseline, param);
	if (today)
		json_object_set(config, param, today);
	else
		json_object_del(config, param);
}

/* Resets a parameter to its baseline value, together with parameters that depend on its old one, if that gives a valid
 * configuration. */
static json_t *without(const struct tune *tune, json_t *config, const json_t *effects, const char *param) {
	const json_t *baseline = tune->task->baseline;
	json_t *changed = json_copy(config);
	const char *name;
	json_t *value;
	uint64_t index;
	put_back(changed, baseline, param);
	for (int also = 0; also < 2; also++) {
		if (!space_config_read(tune->task->space, changed, NULL, &index, NULL)) {
			json_decref(config);
			return changed;
		}
		json_object_foreach(config, name, value) if (!json_object_get(baseline, name) && !matters(effects, name))
			json_object_del(changed, name);
	}
	json_decref(changed);
	return config;
}

/* Does the search know that it is slower than what may race? */
static bool is_far(const struct tune *tune, const json_t *config) {
	uint64_t index;
	if (json_equal(config, tune->task->baseline))
		return !(tune->memory.baseline.least <= tune->memory.best * TUNE_FINALIST_MARGIN);
	if (space_config_read(tune->task->space, config, NULL, &index, NULL))
		return false;
	for (size_t i = 0; i < tune->memory.worked_count; i++)
		if (tune->memory.worked[i].index == index)
			return tune->memory.worked[i].least > tune->memory.best * TUNE_FINALIST_MARGIN;
	return false;
}

json_t *tune_simplified(const struct tune *tune, const json_t *config) {
	json_t *effects = tune_effects(tune), *simple = json_copy((json_t *)config);
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)config, name, value) {
		const json_t *today = json_object_get(tune->task->baseline, name);
		if (json_object_get(simple, name) && !json_equal(value, today) && !matters(effects, name))
			simple = without(tune, simple, effects, name);
	}
	json_decref(effects);
	if (!json_equal(simple, config) && !is_far(tune, simple))
		return simple;
	json_decref(simple);
	return NULL;
}
