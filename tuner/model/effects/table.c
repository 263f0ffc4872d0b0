/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/model/effects/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/mem.h"

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
