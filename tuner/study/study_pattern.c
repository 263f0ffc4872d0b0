/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Do neighbours predict each other? The first statistic is the sum of products of each row's log time and the mean of
 * its nearest rows' (Moran, Notes on continuous stochastic phenomena, 1950), with times about the mean of their
 * problem. Its distribution without any pattern comes from 999 shuffles (within each problem, if problems have several
 * rows). Words do not have neighbours in a useful sense, so that a second statistic is the largest share of the
 * variance between the levels of one column, beyond that of as many random groups; the same shuffles give its
 * distribution. */
#include <math.h>

#include "base/rng.h"
#include "base/stats.h"
#include "tuner/study/study_impl.h"

enum { ROWS_MAX = 500, NEAREST = 3, NEIGHBOURS_MAX = 16, SHUFFLES = 999, OUTLYING = 4 };
static const double PLAIN = 0.1; /* a chance above this decides nothing, as in follows.c */

/* A column that the shuffles do not change: the level of each row, and the rows of each level. */
struct levels {
	size_t count, used; /* number of levels, and of those that occur */
	uint16_t of_row[ROWS_MAX];
	size_t rows[ROWS_MAX + 1];
};

struct pattern {
	size_t count;
	struct levels *columns;
	size_t column_count;
	size_t rows[ROWS_MAX], strata[ROWS_MAX]; /* rows of a problem are contiguous; a stratum is named by its first row */
	double y[ROWS_MAX];
	size_t near[ROWS_MAX][NEIGHBOURS_MAX], near_count[ROWS_MAX];
};

static double distance(const struct study *study, size_t a, size_t b) {
	double sum = 0;
	for (size_t c = 0; c < study->column_count; c++) {
		int x = study->rows[a].level[c], y = study->rows[b].level[c];
		bool ordered = study->columns[c].numeric && x != STUDY_ABSENT && y != STUDY_ABSENT;
		sum += x == y ? 0 : ordered ? fmin(1, abs(x - y) * 2.0 / (double)study->columns[c].levels) : 1;
	}
	return sum;
}

/* Puts a number among the `count` smallest of NEAREST, ascending. Returns how many there are then. */
static size_t smallest_add(double *smallest, size_t count, double number) {
	size_t at = count < NEAREST ? count : NEAREST;
	for (; at > 0 && number < smallest[at - 1]; at--)
		if (at < NEAREST)
			smallest[at] = smallest[at - 1];
	if (at < NEAREST)
		smallest[at] = number;
	return count < NEAREST ? count + 1 : NEAREST;
}

static void nearest_find(const struct study *study, struct pattern *pattern, size_t i) {
	double d[ROWS_MAX], smallest[NEAREST];
	size_t found = 0;
	for (size_t j = 0; j < pattern->count; j++) {
		d[j] = j == i ? INFINITY : distance(study, pattern->rows[i], pattern->rows[j]);
		if (j != i)
			found = smallest_add(smallest, found, d[j]);
	}
	double limit = smallest[found - 1];
	for (size_t j = 0; j < pattern->count && pattern->near_count[i] < NEIGHBOURS_MAX; j++)
		if (d[j] <= limit)
			pattern->near[i][pattern->near_count[i]++] = j;
}

/* Chooses evenly among all rows if there are too many. */
static void rows_choose(const struct study *study, struct pattern *pattern) {
	struct study_order order = {.study = study};
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), count = study->row_count;
	for (size_t c = 0; c < study->column_count; c++)
		order.skip[c] = !study->columns[c].is_problem;
	for (size_t i = 0; i < count; i++)
		rows[i] = i;
	study_order_sort(&order, rows, count, SIZE_MAX);
	pattern->count = count < ROWS_MAX ? count : ROWS_MAX;
	for (size_t i = 0; i < pattern->count; i++) {
		pattern->rows[i] = rows[i * count / pattern->count];
		bool same = i && study_order_compare(&order, pattern->rows[i - 1], pattern->rows[i]) == 0;
		pattern->strata[i] = same ? pattern->strata[i - 1] : i;
	}
	free(rows);
}

static size_t stratum_end(const struct pattern *pattern, size_t i) {
	size_t end = i + 1;
	while (end < pattern->count && pattern->strata[end] == pattern->strata[i])
		end++;
	return end;
}

/* Problems with a row or two each are one stratum, because then all differences are between problems. */
static void strata_join(struct pattern *pattern) {
	size_t strata = 0;
	for (size_t i = 0; i < pattern->count; i = stratum_end(pattern, i))
		strata++;
	for (size_t i = 0; i < pattern->count && 3 * strata > pattern->count; i++)
		pattern->strata[i] = 0;
}

static void values_centre(const struct study *study, struct pattern *pattern) {
	for (size_t i = 0, end; i < pattern->count; i = end) {
		double sum = 0;
		end = stratum_end(pattern, i);
		for (size_t j = i; j < end; j++)
			sum += pattern->y[j] = log(study->rows[pattern->rows[j]].value);
		for (size_t j = i; j < end; j++)
			pattern->y[j] -= sum / (double)(end - i);
	}
}

/* A single wrong time must not outweigh all others. */
static void values_clip(struct pattern *pattern) {
	double size[ROWS_MAX];
	for (size_t i = 0; i < pattern->count; i++)
		size[i] = fabs(pattern->y[i]);
	double limit = OUTLYING * stats_median(size, pattern->count);
	for (size_t i = 0; i < pattern->count && limit > 0; i++)
		pattern->y[i] = fmax(-limit, fmin(limit, pattern->y[i]));
}

static double likeness(const struct pattern *pattern) {
	double sum = 0;
	for (size_t i = 0; i < pattern->count; i++) {
		double near = 0;
		for (size_t j = 0; j < pattern->near_count[i]; j++)
			near += pattern->y[pattern->near[i][j]];
		sum += pattern->y[i] * near / (double)pattern->near_count[i];
	}
	return sum;
}

/* Leaves out columns of the problem, and those with too many levels. */
static void columns_choose(const struct study *study, struct pattern *pattern) {
	pattern->columns = mem_alloc(study->column_count + 1, sizeof *pattern->columns);
	for (size_t c = 0; c < study->column_count; c++) {
		struct levels *column = &pattern->columns[pattern->column_count];
		column->count = study->columns[c].levels + 1; /* absence counts as a level */
		if (study->columns[c].is_problem || 2 * column->count > pattern->count + 2)
			continue;
		for (size_t i = 0; i < pattern->count; i++) {
			column->of_row[i] = (uint16_t)(study->rows[pattern->rows[i]].level[c] + 1);
			column->used += column->rows[column->of_row[i]]++ == 0;
		}
		pattern->column_count++;
	}
}

/* The share of the variance between the levels of a column. */
static double share_between(const struct pattern *pattern, const struct levels *column, double all) {
	double sum[ROWS_MAX + 1], between = 0;
	memset(sum, 0, column->count * sizeof *sum);
	for (size_t i = 0; i < pattern->count; i++)
		sum[column->of_row[i]] += pattern->y[i];
	for (size_t l = 0; l < column->count; l++)
		between += column->rows[l] ? sum[l] * sum[l] / (double)column->rows[l] : 0;
	return all > 0 ? between / all - (double)(column->used - 1) / (double)(pattern->count - 1) : 0;
}

static double share_largest(const struct pattern *pattern) {
	double most = 0, all = 0;
	for (size_t i = 0; i < pattern->count; i++)
		all += pattern->y[i] * pattern->y[i];
	for (size_t c = 0; c < pattern->column_count; c++)
		most = fmax(most, share_between(pattern, &pattern->columns[c], all));
	return most;
}

/* The smaller p of two statistics counts twice (Bonferroni). */
static double probability(struct pattern *pattern) {
	struct rng rng;
	double real = likeness(pattern), share = share_largest(pattern);
	size_t as_good = 1, as_large = 1;
	rng_seed(&rng, 1);
	int round = 0;
	for (double enough = PLAIN * (1 + SHUFFLES); round < SHUFFLES && fmin((double)as_good, (double)as_large) < enough;
	     round++) {
		for (size_t i = 0, end; i < pattern->count; i = end) {
			end = stratum_end(pattern, i);
			rng_shuffle(&rng, pattern->y + i, end - i, sizeof *pattern->y);
		}
		as_good += likeness(pattern) >= real;
		as_large += share_largest(pattern) >= share;
	}
	return fmin(1, 2.0 * (double)(as_good < as_large ? as_good : as_large) / (1 + round));
}

double study_pattern(const struct study *study) {
	if (study->row_count < STUDY_ROWS_LEAST || study->column_count == 0)
		return NAN;
	mem_auto struct pattern *pattern = mem_alloc(1, sizeof *pattern);
	rows_choose(study, pattern);
	for (size_t i = 0; i < pattern->count; i++)
		nearest_find(study, pattern, i);
	strata_join(pattern);
	values_centre(study, pattern);
	values_clip(pattern);
	columns_choose(study, pattern);
	double p = probability(pattern);
	free(pattern->columns);
	return p;
}
