/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Series of rows that agree in everything but one column. */
#include <math.h>

#include "base/rng.h"
#include "tuner/study/study_impl.h"

struct by_place {
	const struct study_order *order;
	size_t by; /* SIZE_MAX: none */
};

int study_order_compare(const struct study_order *order, size_t a, size_t b) {
	const struct study *study = order->study;
	for (size_t c = 0; c < study->column_count; c++) {
		int x = study->rows[a].level[c], y = study->rows[b].level[c];
		if (!order->skip[c] && x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int by_place(const void *a, const void *b, void *ctx) {
	const struct by_place *by = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = study_order_compare(by->order, x, y);
	if (order || by->by == SIZE_MAX)
		return order ? order : (x > y) - (x < y);
	int p = by->order->study->rows[x].level[by->by], q = by->order->study->rows[y].level[by->by];
	return p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

void study_order_sort(const struct study_order *order, size_t *rows, size_t count, size_t by) {
	struct by_place ctx = {order, by};
	qsort_r(rows, count, sizeof *rows, by_place, &ctx);
}

void study_dependent(const struct study *study, size_t column, bool *dependent) {
	size_t levels = study->columns[column].levels, columns = study->column_count;
	bool *met = mem_alloc(levels + 1, sizeof *met), *present = mem_alloc(columns * levels + 1, sizeof *present);
	for (size_t r = 0; r < study->row_count; r++) {
		const int *level = study->rows[r].level;
		if (level[column] == STUDY_ABSENT)
			continue;
		met[level[column]] = true;
		for (size_t c = 0; c < columns; c++)
			if (level[c] != STUDY_ABSENT)
				present[c * levels + (size_t)level[column]] = true;
	}
	for (size_t c = 0; c < columns; c++) {
		bool somewhere = false, nowhere = false;
		for (size_t l = 0; l < levels; l++) {
			somewhere = somewhere || present[c * levels + l];
			nowhere = nowhere || (met[l] && !present[c * levels + l]);
		}
		dependent[c] = c != column && somewhere && nowhere;
	}
	free(met);
	free(present);
}

enum { EXACT_MOST = 7, SHUFFLES = 4999 };

static double roughness(const double *y, size_t count) {
	double sum = 0;
	for (size_t i = 1; i < count; i++)
		sum += (y[i] - y[i - 1]) * (y[i] - y[i - 1]);
	return sum;
}

struct orders {
	double real;
	size_t all, smooth, count;
};

/* All orders of y, by exchanging (Heap, Permutations by interchanges, 1963). */
static void orders_try(struct orders *orders, double *y, size_t left) {
	if (left <= 1) {
		orders->all++;
		orders->smooth += roughness(y, orders->count) <= orders->real * (1 + 1e-12);
		return;
	}
	for (size_t i = 0; i < left; i++) {
		orders_try(orders, y, left - 1);
		size_t other = left % 2 ? 0 : i;
		double kept = y[other];
		y[other] = y[left - 1];
		y[left - 1] = kept;
	}
}

double study_smooth_chance(const double *y, size_t count) {
	struct orders orders = {.real = roughness(y, count), .count = count};
	mem_auto double *copy = mem_alloc(count + 1, sizeof *copy);
	struct rng rng;
	for (size_t i = 0; i < count; i++)
		copy[i] = y[i];
	if (count >= 4 && count <= EXACT_MOST)
		orders_try(&orders, copy, count);
	rng_seed(&rng, 1);
	for (int s = 0; s < SHUFFLES && count > EXACT_MOST; s++) {
		rng_shuffle(&rng, copy, count, sizeof *copy);
		orders.smooth += roughness(copy, count) <= orders.real;
		orders.all++;
	}
	if (count < 4)
		return 1;
	return count > EXACT_MOST ? (double)(orders.smooth + 1) / (double)(orders.all + 1)
	                          : (double)orders.smooth / (double)orders.all;
}

/* Tables that are too small for tests by shuffling. */

/* The studentized range that 1 of 100 samples of a normal distribution exceeds (Pearson, Hartley, Biometrika tables for
 * statisticians, 1966, table 29, infinite degrees of freedom). */
static const struct {
	size_t count;
	double range;
} ranges[] = {{2, 3.64},  {3, 4.12},  {4, 4.40},  {5, 4.60},  {6, 4.76},  {7, 4.88},  {8, 4.99},
              {10, 5.16}, {12, 5.29}, {15, 5.45}, {20, 5.65}, {30, 5.91}, {40, 6.09}, {60, 6.35}};
enum { RANGES = sizeof ranges / sizeof *ranges, FEW_MOST = 12 };
static const double PATTERN_MAX = 0.01, OFF_LEAST = 0.1;

double study_chance_ratio(const struct study *study, size_t count) {
	double range = ranges[RANGES - 1].range;
	for (size_t i = RANGES; i-- > 0;)
		if (count <= ranges[i].count)
			range = ranges[i].range;
	return exp(fmax(OFF_LEAST, 2 * study_noise(study)) * range);
}

/* The largest ratio of two times of one problem. */
static double spread_of(const struct study *study) {
	double most = 1;
	for (size_t a = 0; a < study->row_count; a++)
		for (size_t b = 0; b < study->row_count; b++)
			if (study_same_problem(study, a, b))
				most = fmax(most, study->rows[a].value / study->rows[b].value);
	return most;
}

/* Repeated samples show how far values are off, so that tests can be trusted to say no. */
static bool are_single(const struct study *study) {
	for (size_t i = 0; i < study->row_count; i++)
		if (study->rows[i].sample_count > 1)
			return false;
	return true;
}

bool study_few(const struct study *study) {
	size_t rows = study->row_count;
	if (rows < STUDY_ROWS_LEAST)
		return true;
	return rows <= FEW_MOST && are_single(study) && spread_of(study) > study_chance_ratio(study, rows) &&
	       study_pattern(study) > PATTERN_MAX;
}

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
