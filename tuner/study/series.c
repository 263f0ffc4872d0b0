/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of rows that agree in everything but one column. */
#include "tuner/study/study_impl.h"

struct group { /* rows that agree in all columns that do not depend on the column */
	const struct study *study;
	size_t column;
	const bool *dependent;
	struct study_order order; /* by the dependent columns */
	const size_t *rows;       /* rows without any dependent column come first */
	size_t count, plain;
};

static bool is_plain(const struct study *study, size_t row, const bool *dependent) {
	for (size_t c = 0; c < study->column_count; c++)
		if (dependent[c] && study->rows[row].level[c] != STUDY_ABSENT)
			return false;
	return true;
}

/* Sorts by level; of several rows with the same level the fastest remains. */
static size_t by_level(const struct study *study, size_t column, size_t *rows, size_t count) {
	struct study_order all = {.study = study};
	size_t kept = 0;
	for (size_t c = 0; c < study->column_count; c++)
		all.skip[c] = true;
	study_order_sort(&all, rows, count, column);
	for (size_t i = 0; i < count; i++) {
		bool again = kept && study->rows[rows[kept - 1]].level[column] == study->rows[rows[i]].level[column];
		if (!again)
			rows[kept++] = rows[i];
		else if (study->rows[rows[i]].value < study->rows[rows[kept - 1]].value)
			rows[kept - 1] = rows[i];
	}
	return kept;
}

/* Reports the plain rows together with rows `from` to `end`, which agree in the dependent columns. */
static bool series_give(const struct group *group, size_t from, size_t end, size_t least,
                        bool (*fn)(void *ctx, const size_t *rows, size_t count), void *fn_ctx) {
	size_t *rows = mem_alloc(group->count + 1, sizeof *rows), count = 0;
	for (size_t i = 0; i < group->plain; i++)
		rows[count++] = group->rows[i];
	for (size_t i = from; i < end; i++)
		rows[count++] = group->rows[i];
	count = by_level(group->study, group->column, rows, count);
	bool more = count < least || fn(fn_ctx, rows, count);
	free(rows);
	return more;
}

static bool group_give(const struct group *group, size_t least, bool (*fn)(void *ctx, const size_t *rows, size_t count),
                       void *fn_ctx) {
	size_t end;
	bool more = true;
	if (group->plain == group->count)
		return series_give(group, group->plain, group->count, least, fn, fn_ctx);
	for (size_t i = group->plain; i < group->count && more; i = end) {
		for (end = i + 1; end < group->count; end++)
			if (study_order_compare(&group->order, group->rows[i], group->rows[end]) != 0)
				break;
		more = series_give(group, i, end, least, fn, fn_ctx);
	}
	return more;
}

static size_t rows_wanted(const struct study *study, size_t column, study_filter filter, void *ctx, size_t *rows) {
	size_t count = 0;
	for (size_t r = 0; r < study->row_count; r++)
		if (study->rows[r].level[column] != STUDY_ABSENT && (!filter || filter(ctx, study, r)))
			rows[count++] = r;
	return count;
}

/* Moves plain rows to the front and sorts the others by their dependent columns. */
static void group_make(struct group *group, size_t *rows, size_t count) {
	group->rows = rows;
	group->count = count;
	group->plain = 0;
	for (size_t i = 0; i < count; i++) {
		size_t row = rows[i];
		if (!is_plain(group->study, row, group->dependent))
			continue;
		rows[i] = rows[group->plain];
		rows[group->plain++] = row;
	}
	study_order_sort(&group->order, rows + group->plain, count - group->plain, group->column);
}

void study_series_each(const struct study *study, size_t column, size_t least, study_filter filter, void *ctx,
                       bool (*fn)(void *fn_ctx, const size_t *rows, size_t count), void *fn_ctx) {
	struct study_order order = {.study = study};
	bool dependent[STUDY_COLUMNS_MAX] = {0}, more = true;
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), end;
	size_t count = rows_wanted(study, column, filter, ctx, rows);
	study_dependent(study, column, dependent);
	struct group group = {.study = study, .column = column, .dependent = dependent, .order = {.study = study}};
	for (size_t c = 0; c < study->column_count; c++) {
		order.skip[c] = c == column || dependent[c];
		group.order.skip[c] = !dependent[c];
	}
	study_order_sort(&order, rows, count, column);
	for (size_t i = 0; i < count && more; i = end) {
		for (end = i + 1; end < count && study_order_compare(&order, rows[i], rows[end]) == 0;)
			end++;
		group_make(&group, rows + i, end - i);
		more = group_give(&group, least, fn, fn_ctx);
	}
	free(rows);
}

size_t study_envelope(const struct study *study, size_t column, study_filter filter, void *ctx, size_t *rows) {
	mem_auto size_t *all = mem_alloc(study->row_count + 1, sizeof *all);
	size_t count = rows_wanted(study, column, filter, ctx, all), kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!study->rows[all[i]].over)
			all[kept++] = all[i];
	kept = by_level(study, column, all, kept);
	for (size_t i = 0; i < kept; i++)
		rows[i] = all[i];
	return kept;
}
