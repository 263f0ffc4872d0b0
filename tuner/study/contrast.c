/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/rng.h"
#include "tuner/model/paired.h"
#include "tuner/study/study_impl.h"

enum { RANKS_LEAST = 6 /* fewer pairs cannot be significant by their ranks */ };
static const double NORMAL_95 = 1.959964;

static bool is_wanted(const struct study *study, size_t row, size_t column, int a, int b, study_filter filter,
                      void *ctx) {
	int level = study->rows[row].level[column];
	return (level == a || level == b) && !study->rows[row].over && !study->rows[row].doubted &&
	       (!filter || filter(ctx, study, row));
}

/* The smallest time of each level among rows that agree in everything else. */
static bool pair_of(const struct study *study, const size_t *rows, size_t count, size_t column, int a,
                    struct study_pair *pair) {
	*pair = (struct study_pair){SIZE_MAX, SIZE_MAX};
	for (size_t i = 0; i < count; i++) {
		size_t *side = study->rows[rows[i]].level[column] == a ? &pair->a : &pair->b;
		if (*side == SIZE_MAX || study->rows[rows[i]].value < study->rows[*side].value)
			*side = rows[i];
	}
	return pair->a != SIZE_MAX && pair->b != SIZE_MAX;
}

size_t study_pairs(const struct study *study, size_t column, int a, int b, study_filter filter, void *ctx,
                   struct study_pair **pairs) {
	struct study_order order = {.study = study};
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), count = 0, found = 0, end;
	*pairs = mem_alloc(study->row_count + 1, sizeof **pairs);
	study_dependent(study, column, order.skip);
	order.skip[column] = true;
	for (size_t r = 0; r < study->row_count; r++)
		if (a != b && is_wanted(study, r, column, a, b, filter, ctx))
			rows[count++] = r;
	study_order_sort(&order, rows, count, column);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && study_order_compare(&order, rows[i], rows[end]) == 0;)
			end++;
		found += pair_of(study, rows + i, end - i, column, a, &(*pairs)[found]);
	}
	free(rows);
	return found;
}

static double log_ratio(const struct study *study, const struct study_pair *pair) {
	return log(study->rows[pair->a].value / study->rows[pair->b].value);
}

static double variance_of(const struct study *study, const struct study_pair *pair) {
	double a = study->rows[pair->a].deviation, b = study->rows[pair->b].deviation, noise = study_noise(study) / 2;
	return a * a + b * b + noise * noise;
}

/* The variance between pairs in addition to their own: the moment estimate of DerSimonian and Laird. */
static double variance_between(const struct study *study, const struct study_pair *pairs, size_t count) {
	double w = 0, ww = 0, wx = 0, q = 0;
	for (size_t i = 0; i < count; i++) {
		double weight = 1 / variance_of(study, &pairs[i]);
		w += weight;
		ww += weight * weight;
		wx += weight * log_ratio(study, &pairs[i]);
	}
	for (size_t i = 0; i < count; i++)
		q += pow(log_ratio(study, &pairs[i]) - wx / w, 2) / variance_of(study, &pairs[i]);
	return fmax(0, (q - (double)(count - 1)) / (w - ww / w));
}

static void compare_few(const struct study *study, const struct study_pair *pairs, size_t count,
                        struct study_ratio *ratio) {
	double between = count > 1 ? variance_between(study, pairs, count) : 0, w = 0, wx = 0;
	for (size_t i = 0; i < count; i++) {
		double weight = 1 / (variance_of(study, &pairs[i]) + between);
		w += weight;
		wx += weight * log_ratio(study, &pairs[i]);
	}
	double mean = wx / w, error = 1 / sqrt(w);
	ratio->ratio = exp(mean);
	ratio->ci[0] = exp(mean - NORMAL_95 * error);
	ratio->ci[1] = exp(mean + NORMAL_95 * error);
	ratio->p = erfc(fabs(mean) / error / sqrt(2));
}

static void compare_many(const struct study *study, const struct study_pair *pairs, size_t count,
                         struct study_ratio *ratio) {
	mem_auto double *a = mem_alloc(count, sizeof *a), *b = mem_alloc(count, sizeof *b);
	for (size_t i = 0; i < count; i++) {
		a[i] = study->rows[pairs[i].a].value;
		b[i] = study->rows[pairs[i].b].value;
	}
	struct paired paired = paired_analyse(a, b, count, 0.95);
	ratio->ratio = paired.ratio;
	ratio->ci[0] = paired.ci[0];
	ratio->ci[1] = paired.ci[1];
	ratio->p = paired.p;
}

struct study_ratio study_compare(const struct study *study, const struct study_pair *pairs, size_t count) {
	struct study_ratio ratio = {NAN, {NAN, NAN}, NAN, count, 0};
	double noise = 1 + study_noise(study);
	if (count == 0)
		return ratio;
	if (count < RANKS_LEAST)
		compare_few(study, pairs, count, &ratio);
	else
		compare_many(study, pairs, count, &ratio);
	ratio.ci[0] = fmin(ratio.ci[0], ratio.ratio / noise);
	ratio.ci[1] = fmax(ratio.ci[1], ratio.ratio * noise);
	for (size_t i = 0; i < count; i++) {
		double one = exp(log_ratio(study, &pairs[i]));
		ratio.agree += ratio.ratio > 1 ? one > noise : one < 1 / noise;
	}
	return ratio;
}

struct study_ratio study_contrast(const struct study *study, size_t column, int a, int b, study_filter filter,
                                  void *ctx) {
	mem_auto struct study_pair *pairs;
	size_t count = study_pairs(study, column, a, b, filter, ctx, &pairs);
	return study_compare(study, pairs, count);
}

/* Series of rows that agree in everything but one column. */

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
	mem_auto bool *met = mem_alloc(levels + 1, sizeof *met),
				  *present = mem_alloc(columns * levels + 1, sizeof *present);
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
	mem_auto size_t *rows = mem_alloc(group->count + 1, sizeof *rows);
	size_t count = 0;
	for (size_t i = 0; i < group->plain; i++)
		rows[count++] = group->rows[i];
	for (size_t i = from; i < end; i++)
		rows[count++] = group->rows[i];
	count = by_level(group->study, group->column, rows, count);
	return count < least || fn(fn_ctx, rows, count);
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
	mem_auto size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows);
	size_t count = rows_wanted(study, column, filter, ctx, rows), end;
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
