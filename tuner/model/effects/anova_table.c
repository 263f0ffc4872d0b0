/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/anova_impl.h"

struct value {
	int place;
	double at;
	size_t seen;
};

static int by_at(const void *a, const void *b) {
	const struct value *x = a, *y = b;
	return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : (x->place > y->place) - (x->place < y->place);
}

/* The values of a parameter that occur, in order. */
static struct value *values_new(const struct anova_data *data, size_t param, size_t *count) {
	const struct response_data *measured = &data->measured;
	size_t all = measured->levels[param], kept = 0;
	struct value *values = mem_alloc(all + 1, sizeof *values);
	for (size_t i = 0; i < data->samples; i++) {
		int place = data->sample[i * measured->params + param];
		if (place != EFFECTS_ABSENT)
			values[place].seen++;
	}
	for (size_t v = 0; v < all; v++) {
		double at = response_place(measured, param, (int)v);
		if (values[v].seen)
			values[kept++] = (struct value){.place = (int)v, .at = isnan(at) ? (double)v : at, .seen = values[v].seen};
	}
	qsort(values, kept, sizeof *values, by_at);
	*count = kept;
	return values;
}

/* level[place] of at most so many, each of about as many configurations. */
static size_t levels_make(const struct value *values, size_t count, size_t most, int *level) {
	size_t all = 0, before = 0, last = 0;
	int levels = -1;
	for (size_t v = 0; v < count; v++)
		all += values[v].seen;
	for (size_t v = 0; v < count; v++) {
		size_t bin = count <= most ? v : (2 * before + values[v].seen) * most / (2 * all);
		levels += levels < 0 || bin != last;
		level[values[v].place] = levels;
		last = bin;
		before += values[v].seen;
	}
	return (size_t)(levels + 1);
}

static void param_make(struct table_param *to, const struct anova_data *data, size_t param, size_t most,
                       const size_t *order, size_t count) {
	size_t seen, params = data->measured.params;
	struct value *values = values_new(data, param, &seen);
	int *level = mem_alloc(data->measured.levels[param] + 1, sizeof *level);
	to->levels = levels_make(values, seen, most, level);
	to->level = mem_alloc(count, sizeof *to->level);
	for (size_t i = 0; i < count; i++) {
		int place = data->sample[order[i] * params + param];
		to->level[i] = place == EFFECTS_ABSENT ? -1 : level[place];
	}
	free(level);
	free(values);
}

void table_make(struct table *table, const struct anova_data *data, const size_t *order, size_t count) {
	size_t params = data->measured.params;
	*table = (struct table){.count = count, .params = params};
	table->fine = mem_alloc(params, sizeof *table->fine);
	table->coarse = mem_alloc(params, sizeof *table->coarse);
	for (size_t p = 0; p < params; p++) {
		param_make(&table->fine[p], data, p, TABLE_FINE, order, count);
		param_make(&table->coarse[p], data, p, TABLE_COARSE, order, count);
	}
}

void table_clear(struct table *table) {
	for (size_t p = 0; p < table->params; p++) {
		free(table->fine[p].level);
		free(table->coarse[p].level);
	}
	free(table->fine);
	free(table->coarse);
}
