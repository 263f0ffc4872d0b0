/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much each parameter mattered on this problem. */
#include <config.h>

#include <stdlib.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/explain.h"
#include "tuner/model/effects.h"

struct table {
	size_t rows, params;
	size_t column[STUDY_COLUMNS_MAX]; /* of the study */
	size_t levels[STUDY_COLUMNS_MAX];
	int *places;
	double *cost;
	bool *over;
};

static struct table table_of(const struct explain_view *view) {
	struct table table = {0};
	const struct study *study = view->study;
	for (size_t c = 0; c < study_columns(study); c++) {
		if (study_column(study, c)->is_problem)
			continue;
		table.levels[table.params] = study_column(study, c)->levels;
		table.column[table.params++] = c;
	}
	table.places = mem_alloc(study_rows(study) * table.params + 1, sizeof *table.places);
	table.cost = mem_alloc(study_rows(study) + 1, sizeof *table.cost);
	table.over = mem_alloc(study_rows(study) + 1, sizeof *table.over);
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		if (!explain_of_problem((void *)view, study, i))
			continue;
		for (size_t p = 0; p < table.params; p++)
			table.places[table.rows * table.params + p] = row->place[table.column[p]];
		table.over[table.rows] = row->over;
		table.cost[table.rows++] = row->value;
	}
	return table;
}

static void table_clear(struct table *table) {
	free(table->places);
	free(table->cost);
	free(table->over);
}

static json_t *effect_json(const struct study_column *column, const struct effect *effect) {
	json_t *object = json_pack("{s:s,s:b,s:I}", "param", column->name, "known", effect->known, "seen",
	                           (json_int_t)effect->seen);
	if (effect->known) {
		json_object_set_new(object, "ratio", js_number(effect->ratio));
		json_object_set_new(object, "ci", js_reals(effect->ci, 2));
		json_object_set_new(object, "best", value_json(column->level[effect->best]));
		json_object_set_new(object, "worst", value_json(column->level[effect->worst]));
	}
	return object;
}

/* The largest first, what is not known last. */
static int by_ratio(const void *a, const void *b) {
	double x = js_real_or(*(json_t *const *)a, "ratio", 0), y = js_real_or(*(json_t *const *)b, "ratio", 0);
	return (x < y) - (x > y);
}

json_t *explain_effects(const struct explain_view *view) {
	struct table table = table_of(view);
	struct effect effects[STUDY_COLUMNS_MAX];
	json_t *sorted[STUDY_COLUMNS_MAX], *list = json_array();
	const struct effects_data data = {.rows = table.rows,
	                                  .params = table.params,
	                                  .levels = table.levels,
	                                  .places = table.places,
	                                  .cost = table.cost,
	                                  .over = table.over};
	effects_fit(&data, effects); /* too little data: none of them is known */
	for (size_t p = 0; p < table.params; p++)
		sorted[p] = effect_json(study_column(view->study, table.column[p]), &effects[p]);
	qsort(sorted, table.params, sizeof *sorted, by_ratio);
	for (size_t p = 0; p < table.params; p++)
		json_array_append_new(list, sorted[p]);
	table_clear(&table);
	return list;
}
