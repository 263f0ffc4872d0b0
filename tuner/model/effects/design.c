/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sparse design matrix of the additive model (effects_impl.h). */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "tuner/model/effects/effects_impl.h"

enum { COLUMNS_MAX = 512 /* a matrix of this size squared is inverted in every iteration */ };

/* The number of rows of each value of a parameter; the caller frees it. */
static size_t *times_new(const struct effects_table *table, size_t param, size_t *seen) {
	size_t *times = mem_alloc(table->levels[param] + 1, sizeof *times);
	*seen = 0;
	for (size_t row = 0; row < table->rows; row++) {
		int level = table->level[row * table->params + param];
		if (level != EFFECTS_ABSENT && (!table->weight || table->weight[row] > 0))
			*seen += times[level]++ == 0;
	}
	return times;
}

/* A parameter that is absent in some rows has today's value there, because that runs without it. SIZE_MAX: its mean, as
 * nobody knows better. */
static size_t zero_of(const struct effects_table *table, size_t param, const int *level, size_t count, size_t present) {
	size_t rows = 0;
	for (size_t row = 0; row < table->rows; row++)
		rows += !table->weight || table->weight[row] > 0;
	for (size_t i = 0; table->today && present < rows && i < count; i++)
		if (level[i] == table->today[param])
			return i;
	return SIZE_MAX;
}

static void block_make(struct design *design, size_t param, const size_t *times, size_t least) {
	const struct effects_table *table = design->table;
	struct block *block = &design->blocks[param];
	size_t total = 0;
	*block = (struct block){.first = design->columns};
	for (size_t level = 0; level < table->levels[param]; level++) {
		if (times[level] < least)
			continue;
		design->level[block->first + block->count] = (int)level;
		design->times[block->first + block->count++] = times[level];
		total += times[level];
	}
	if (block->count < 2)
		block->count = 0;
	size_t zero = zero_of(table, param, design->level + block->first, block->count, total);
	for (size_t i = 0, c = block->first; i < block->count; i++, c++) {
		design->share[c] = (double)design->times[c] / (double)total;
		design->zero[c] = zero == SIZE_MAX ? design->share[c] : i == zero;
	}
	design->columns += block->count;
}

/* Values with fewer than `least` rows do not get a column: they count as the mean. */
static size_t columns_with(const struct effects_table *table, size_t *const *times, size_t least) {
	size_t columns = 1;
	for (size_t param = 0; param < table->params; param++)
		for (size_t level = 0; level < table->levels[param]; level++)
			columns += times[param][level] >= least;
	return columns;
}

static void rows_make(struct design *design) {
	const struct effects_table *table = design->table;
	for (size_t param = 0; param < table->params; param++) {
		const struct block *block = &design->blocks[param];
		mem_auto int *column_of = mem_alloc(table->levels[param] + 1, sizeof *column_of);
		for (size_t c = block->first; c < block->first + block->count; c++)
			column_of[design->level[c]] = (int)c;
		for (size_t row = 0; row < table->rows; row++) {
			int level = table->level[row * table->params + param];
			int column = level == EFFECTS_ABSENT ? 0 : column_of[level];
			design->column[row * table->params + param] = column ? column : -1;
		}
	}
}

void design_make(struct design *design, const struct effects_table *table) {
	size_t **times = mem_alloc(table->params + 1, sizeof *times), least = 1, most;
	*design = (struct design){.table = table, .columns = 1};
	design->seen = mem_alloc(table->params + 1, sizeof *design->seen);
	for (size_t param = 0; param < table->params; param++)
		times[param] = times_new(table, param, &design->seen[param]);
	while ((most = columns_with(table, times, least)) > COLUMNS_MAX)
		least++;
	design->blocks = mem_alloc(table->params + 1, sizeof *design->blocks);
	design->level = mem_alloc(most, sizeof *design->level);
	design->share = mem_alloc(most, sizeof *design->share);
	design->zero = mem_alloc(most, sizeof *design->zero);
	design->times = mem_alloc(most, sizeof *design->times);
	design->column = mem_alloc(table->rows * table->params + 1, sizeof *design->column);
	design->y = mem_alloc(table->rows + 1, sizeof *design->y);
	for (size_t param = 0; param < table->params; param++) {
		block_make(design, param, times[param], least);
		free(times[param]);
	}
	free(times);
	rows_make(design);
	for (size_t row = 0; row < table->rows; row++)
		design->y[row] = log(table->cost[row]);
}

void design_clear(struct design *design) {
	free(design->seen);
	free(design->blocks);
	free(design->level);
	free(design->share);
	free(design->zero);
	free(design->times);
	free(design->column);
	free(design->y);
}

/* A larger weight would leave no digits for the others. */
static const double WEIGHT_MAX = 1e9;

bool effects_table_holds(const struct effects_table *table, const int *level) {
	for (size_t p = 0; p < table->params; p++)
		if (level[p] != EFFECTS_ABSENT && (level[p] < 0 || (size_t)level[p] >= table->levels[p]))
			return false;
	return true;
}

static bool is_row_good(const struct effects_table *table, size_t row) {
	if (!(table->cost[row] > 0) || !isfinite(table->cost[row]))
		return false;
	if (table->weight && !(table->weight[row] >= 0 && table->weight[row] <= WEIGHT_MAX))
		return false;
	if (table->deviation && (table->deviation[row] < 0 || isinf(table->deviation[row])))
		return false;
	return effects_table_holds(table, table->level + row * table->params);
}

int effects_table_check(const struct effects_table *table, char reason[EFFECTS_REASON]) {
	reason[0] = 0;
	for (size_t row = 0; row < table->rows; row++)
		if (!is_row_good(table, row)) {
			snprintf(reason, EFFECTS_REASON, "the cost or a value of row %zu is out of range", row);
			return -1;
		}
	return 0;
}

bool effects_table_over(const struct effects_table *table, size_t row) {
	return table->over && table->over[row];
}

static int by_level(const void *a, const void *b) {
	const struct effects_key *x = a, *y = b;
	for (size_t i = 0; i < x->params; i++)
		if (x->level[i] != y->level[i])
			return x->level[i] < y->level[i] ? -1 : 1;
	return 0;
}

struct effects_key *effects_keys_new(const struct effects_table *table) {
	struct effects_key *keys = mem_alloc(table->rows + 1, sizeof *keys);
	for (size_t row = 0; row < table->rows; row++)
		keys[row] =
			(struct effects_key){.level = table->level + row * table->params, .params = table->params, .row = row};
	qsort(keys, table->rows, sizeof *keys, by_level);
	return keys;
}

size_t effects_keys_at(const struct effects_key *keys, const struct effects_table *table, const int *level,
                       size_t *first) {
	struct effects_key key = {.level = level, .params = table->params};
	const struct effects_key *found = bsearch(&key, keys, table->rows, sizeof *keys, by_level);
	size_t count = 0;
	if (!found)
		return 0;
	while (found > keys && by_level(found - 1, &key) == 0)
		found--;
	*first = (size_t)(found - keys);
	while (*first + count < table->rows && by_level(found + count, &key) == 0)
		count++;
	return count;
}
