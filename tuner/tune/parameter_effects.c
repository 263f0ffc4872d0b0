/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effect of each parameter in the search. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/model/effects/effects.h"
#include "tuner/tune/bench_impl.h"

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

/* Today's setting may lie outside of the space. */
static void today_find(const struct tune *tune, int *today) {
	const struct space *space = tune->task->space;
	for (size_t p = 0; p < space_params(space); p++) {
		const json_t *value = json_object_get(tune->task->baseline, space_param_name(space, p));
		today[p] = EFFECTS_ABSENT;
		for (size_t level = 0; value && level < space_param_values(space, p); level++) {
			js_auto json_t *one = level_json(space, p, (int)level);
			if (json_equal(one, value))
				today[p] = (int)level;
		}
	}
}

json_t *tune_effects(const struct tune *tune) {
	const struct space *space = tune->task->space;
	size_t params = space_params(space), levels[SPACE_PARAMS_MAX];
	struct effect effects[SPACE_PARAMS_MAX];
	int today[SPACE_PARAMS_MAX];
	struct rows rows = rows_new(tune);
	json_t *array = json_array();
	for (size_t p = 0; p < params; p++)
		levels[p] = space_param_values(space, p);
	rows_fill(&rows, tune);
	today_find(tune, today);
	const struct effects_table data = {.rows = rows.count,
	                                   .params = params,
	                                   .levels = levels,
	                                   .level = rows.level,
	                                   .cost = rows.cost,
	                                   .over = rows.over,
	                                   .today = today};
	effects_fit(&data, effects); /* with too little data no effect is known */
	for (size_t p = 0; p < params; p++)
		json_array_append_new(array, effect_json(space, p, &effects[p]));
	rows_free(&rows);
	return array;
}
