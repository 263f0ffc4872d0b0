/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as a part: its rows, sorted in the variable order, are the paths of the diagram. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tuner/space/part.h"

struct rows {
	struct part *part;
	const struct space_table *table;
	size_t column[SPACE_PARAMS_MAX]; /* of each level */
	const int **row;
};

static uint32_t branch_at(const struct rows *rows, size_t row, int level) {
	return space_branch(rows->part->space, rows->part->params[level], rows->row[row][rows->column[level]]);
}

static int order_rows(const void *left, const void *right, void *context) {
	const struct rows *rows = context;
	const int *a = *(const int *const *)left, *b = *(const int *const *)right;
	for (int level = 0; level < rows->part->levels; level++) {
		size_t column = rows->column[level];
		/* Comparing as unsigned numbers puts absence (-1) last, where its branch is. */
		if (a[column] != b[column])
			return (unsigned)a[column] < (unsigned)b[column] ? -1 : 1;
	}
	return 0;
}

/* The node of rows first..last-1, which agree on all earlier levels. */
static uint32_t rows_node(struct rows *rows, int level, size_t first, size_t last) {
	struct part *part = rows->part;
	if (level == part->levels)
		return PART_TRUE;
	uint32_t *child = mem_alloc(part->branches[level], sizeof *child);
	while (first < last && !effort_spent(part->effort)) {
		uint32_t branch = branch_at(rows, first, level);
		size_t next = first + 1;
		while (next < last && branch_at(rows, next, level) == branch)
			next++;
		part->effort->steps++;
		child[branch] = rows_node(rows, level + 1, first, next);
		first = next;
	}
	uint32_t node = part_node_with(part, level, child);
	free(child);
	return node;
}

uint32_t part_rows(struct part *part, const struct space_table *table) {
	struct rows rows = {.part = part, .table = table};
	for (int level = 0; level < part->levels; level++)
		for (size_t i = 0; i < table->name_count; i++)
			if (table->bind[i] == part->params[level])
				rows.column[level] = i;
	rows.row = mem_alloc(table->row_count, sizeof(const int *));
	for (size_t i = 0; i < table->row_count; i++)
		rows.row[i] = table->rows + i * table->name_count;
	qsort_r(rows.row, table->row_count, sizeof *rows.row, order_rows, &rows);
	uint32_t root = rows_node(&rows, 0, 0, table->row_count);
	free(rows.row);
	return root;
}
