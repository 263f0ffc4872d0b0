/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A permutation test within strata (Good, Permutation, parametric and bootstrap tests of hypotheses, 2005, chapter 3).
 * Log times are taken about the mean of their stratum and scaled to length 1, so that no stratum outweighs the others;
 * differences below the noise stay small. The statistic is how well strata agree on the order of levels: all strata,
 * and those that share a level of another column, because effects may depend on it. For numbers it also measures how
 * small the steps from one to the next are (von Neumann, Distribution of the ratio of the mean square successive
 * difference to the variance, 1941). */
#include "tuner/study/follows.h"

#include <math.h>

#include "base/rng.h"
#include "base/stats.h"
#include "tuner/study/study_impl.h"

enum {
	SHUFFLES_MAX = 999,
	SHUFFLES_MIN = 199,
	STEPS_MAX = 20000000,
	SERIES_LEAST = 3,
	LEVELS_MOST = 128 /* with more levels each has a row or two */
};
static const double CHANCE_MAX = 0.02, CHANCE_DIRECTED_MAX = 0.04;
/* A chance above this decides nothing, so that its further digits are not worth more shuffles (Besag and Clifford,
 * Sequential Monte Carlo p-values, 1991). */
static const double PLAIN = 0.1;

struct cell {
	size_t stratum; /* index of its first cell */
	int level;
	double y, rows;
};

struct deal {
	const struct study *study;
	int column;
	const double *weight;
	struct study_order order;
	const int *problem; /* of each row */
	int levels;
	struct cell *cells;
	size_t count;
	size_t *row; /* of each cell */
	double *sums;
	bool ordered;
	/* Groups of strata that have something in common: each cell belongs to `kinds` groups, and adds to the sum of its
	 * level in each of them. */
	size_t kinds, groups;
	size_t *slot; /* indexes of these sums */
	double *size; /* number of strata in each group */
};

static int level_of(const struct deal *deal, size_t row) {
	return deal->column == FOLLOWS_PROBLEM ? deal->problem[row] : deal->study->rows[row].level[deal->column];
}

/* Adds the rows of one stratum with the mean of each level, because the minimum of many rows would be smaller by
 * chance. A stratum of one level says nothing. */
static void stratum_add(struct deal *deal, const size_t *rows, size_t count) {
	size_t from = deal->count;
	double sum = 0, squares = 0, noise = study_noise(deal->study);
	for (size_t i = 0; i < count; i++) {
		double y = log(deal->study->rows[rows[i]].value);
		size_t c = from;
		while (c < deal->count && deal->cells[c].level != level_of(deal, rows[i]))
			c++;
		if (c == deal->count) {
			deal->row[c] = rows[i];
			deal->cells[deal->count++] = (struct cell){from, level_of(deal, rows[i]), 0, 0};
		}
		deal->cells[c].y += (y - deal->cells[c].y) / ++deal->cells[c].rows;
	}
	size_t cells = deal->count - from;
	for (size_t c = from; c < deal->count; c++)
		sum += deal->cells[c].y;
	for (size_t c = from; c < deal->count; c++)
		squares += pow(deal->cells[c].y - sum / (double)cells, 2);
	for (size_t c = from; c < deal->count; c++)
		deal->cells[c].y = (deal->cells[c].y - sum / (double)cells) / sqrt(squares + (double)cells * noise * noise);
	if (cells < 2)
		deal->count = from;
}

/* Numbers the problems in the order of their rows. Returns how many there are. */
static int problems_number(const struct study *study, int *problem) {
	struct study_order order = {.study = study};
	mem_auto size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows);
	int count = 0;
	for (size_t c = 0; c < study->column_count; c++)
		order.skip[c] = !study->columns[c].is_problem;
	for (size_t r = 0; r < study->row_count; r++)
		rows[r] = r;
	study_order_sort(&order, rows, study->row_count, SIZE_MAX);
	for (size_t i = 0; i < study->row_count; i++) {
		count += i > 0 && study_order_compare(&order, rows[i - 1], rows[i]) != 0;
		problem[rows[i]] = count;
	}
	return count + 1;
}

static void columns_skip(struct deal *deal) {
	const struct study *study = deal->study;
	if (deal->column != FOLLOWS_PROBLEM)
		study_dependent(study, (size_t)deal->column, deal->order.skip);
	for (size_t c = 0; c < study->column_count; c++)
		if (deal->column == FOLLOWS_PROBLEM ? study->columns[c].is_problem : c == (size_t)deal->column)
			deal->order.skip[c] = true;
}

static void strata_make(struct deal *deal, study_filter filter, void *ctx) {
	const struct study *study = deal->study;
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), count = 0, end;
	size_t by = deal->column == FOLLOWS_PROBLEM ? SIZE_MAX : (size_t)deal->column;
	for (size_t r = 0; r < study->row_count; r++)
		if (!study->rows[r].over && level_of(deal, r) != STUDY_ABSENT && (!filter || filter(ctx, study, r)))
			rows[count++] = r;
	study_order_sort(&deal->order, rows, count, by);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && study_order_compare(&deal->order, rows[i], rows[end]) == 0;)
			end++;
		stratum_add(deal, rows + i, end - i);
	}
	free(rows);
}

static size_t stratum_end(const struct deal *deal, size_t from) {
	size_t end = from + 1;
	while (end < deal->count && deal->cells[end].stratum == from)
		end++;
	return end;
}

/* The first group is all strata; the others are those of each level of each column that is not skipped. */
static void groups_make(struct deal *deal) {
	const struct study *study = deal->study;
	size_t base[STUDY_COLUMNS_MAX] = {0}, columns[STUDY_COLUMNS_MAX] = {0};
	deal->groups = deal->kinds = 1;
	for (size_t c = 0; c < study->column_count && !deal->weight; c++) {
		if (deal->order.skip[c] || study->columns[c].levels > LEVELS_MOST)
			continue;
		base[deal->kinds] = deal->groups;
		columns[deal->kinds++] = c;
		deal->groups += study->columns[c].levels + 1;
	}
	deal->slot = mem_alloc(deal->count * deal->kinds + 1, sizeof *deal->slot);
	deal->size = mem_alloc(deal->groups, sizeof *deal->size);
	deal->sums = mem_alloc(deal->groups * (size_t)deal->levels + 1, sizeof *deal->sums);
	for (size_t i = 0; i < deal->count; i++)
		for (size_t k = 0; k < deal->kinds; k++) {
			size_t group = k ? base[k] + (size_t)(study->rows[deal->row[i]].level[columns[k]] + 1) : 0;
			deal->slot[i * deal->kinds + k] = group * (size_t)deal->levels + (size_t)deal->cells[i].level;
			deal->size[group] += deal->cells[i].stratum == i;
		}
}

static double agreement_directed(const struct deal *deal) {
	double sum = 0;
	for (size_t c = 0; c < deal->count; c++)
		sum += deal->weight[deal->cells[c].level] * deal->cells[c].y;
	return sum;
}

static double agreement(const struct deal *deal) {
	size_t levels = (size_t)deal->levels;
	double sum = 0;
	if (deal->weight)
		return agreement_directed(deal);
	for (size_t i = 0; i < deal->groups * levels; i++)
		deal->sums[i] = 0;
	for (size_t c = 0; c < deal->count; c++)
		for (size_t k = 0; k < deal->kinds; k++)
			deal->sums[deal->slot[c * deal->kinds + k]] += deal->cells[c].y;
	const double *of_level = deal->sums;
	for (size_t g = 0; g < deal->groups; g++) {
		double size = fmax(1, deal->size[g]);
		for (size_t l = 0; l < levels; l++, of_level++)
			sum += *of_level * *of_level / size;
	}
	return sum;
}

static double smoothness(const struct deal *deal) {
	double sum = 0;
	for (size_t from = 0, end; from < deal->count; from = end) {
		end = stratum_end(deal, from);
		for (size_t c = from + 1; c < end && end - from >= SERIES_LEAST; c++)
			sum -= pow(deal->cells[c].y - deal->cells[c - 1].y, 2);
	}
	return sum;
}

static void cells_shuffle(struct deal *deal, struct rng *rng) {
	for (size_t from = 0, end; from < deal->count; from = end) {
		end = stratum_end(deal, from);
		for (size_t n = end - from; n > 1; n--) {
			struct cell *a = &deal->cells[from + n - 1], *b = &deal->cells[from + rng_below(rng, n)];
			double y = a->y;
			a->y = b->y;
			b->y = y;
		}
	}
}

static double chance_of(struct deal *deal) {
	static const double least = 1e-9; /* sums in another order differ by less */
	size_t steps = deal->count * deal->kinds + deal->groups * (size_t)deal->levels;
	size_t shuffles = STEPS_MAX / steps, agree = 1, smooth = 1;
	double agreed = agreement(deal), smoothed = deal->ordered ? smoothness(deal) : NAN;
	struct rng rng;
	rng_seed(&rng, 1);
	shuffles = shuffles > SHUFFLES_MAX ? SHUFFLES_MAX : shuffles < SHUFFLES_MIN ? SHUFFLES_MIN : shuffles;
	size_t done = 0, enough = (size_t)(PLAIN * (double)(shuffles + 1));
	for (; done < shuffles && (agree < enough || (deal->ordered && smooth < enough)); done++) {
		cells_shuffle(deal, &rng);
		agree += agreement(deal) >= agreed - least;
		smooth += deal->ordered && smoothness(deal) >= smoothed - least;
	}
	double p = (double)agree / (double)(done + 1), q = (double)smooth / (double)(done + 1);
	return deal->ordered ? fmin(1, 2 * fmin(p, q)) : p;
}

static bool has_series(const struct deal *deal) {
	for (size_t from = 0; from < deal->count; from = stratum_end(deal, from))
		if (stratum_end(deal, from) - from >= SERIES_LEAST)
			return true;
	return false;
}

double follows_chance(const struct study *study, int column, const double *weight, study_filter filter, void *ctx) {
	int *problem = mem_alloc(study->row_count + 1, sizeof *problem), problems = problems_number(study, problem);
	struct deal deal = {
		.study = study, .column = column, .weight = weight, .problem = problem, .order = {.study = study}};
	double chance = NAN;
	deal.levels = column == FOLLOWS_PROBLEM ? problems : (int)study->columns[column].levels;
	deal.cells = mem_alloc(study->row_count + 1, sizeof *deal.cells);
	deal.row = mem_alloc(study->row_count + 1, sizeof *deal.row);
	columns_skip(&deal);
	if (deal.levels <= LEVELS_MOST)
		strata_make(&deal, filter, ctx);
	groups_make(&deal);
	deal.ordered = !weight && column != FOLLOWS_PROBLEM && study->columns[column].numeric && has_series(&deal);
	if (deal.count > 0)
		chance = chance_of(&deal);
	free(deal.sums);
	free(deal.size);
	free(deal.slot);
	free(deal.row);
	free(deal.cells);
	free(problem);
	return chance;
}

bool follows(const struct study *study, int column) {
	return study_few(study) || follows_chance(study, column, NULL, NULL, NULL) <= CHANCE_MAX;
}

bool follows_directed(const struct study *study, int column, const double *weight, study_filter filter, void *ctx) {
	return study_few(study) || follows_chance(study, column, weight, filter, ctx) <= CHANCE_DIRECTED_MAX;
}

/* Do neighbours predict each other? The first statistic is the sum of products of each row's log time and the mean of
 * its nearest rows' (Moran, Notes on continuous stochastic phenomena, 1950), with times about the mean of their
 * problem. Its distribution without any pattern comes from 999 shuffles (within each problem, if problems have several
 * rows). Words do not have neighbours in a useful sense, so that a second statistic is the largest share of the
 * variance between the levels of one column, beyond that of as many random groups; the same shuffles give its
 * distribution. */

enum { ROWS_MAX = 500, NEAREST = 3, NEIGHBOURS_MAX = 16, SHUFFLES = 999, OUTLYING = 4 };

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

static size_t pattern_stratum_end(const struct pattern *pattern, size_t i) {
	size_t end = i + 1;
	while (end < pattern->count && pattern->strata[end] == pattern->strata[i])
		end++;
	return end;
}

/* Problems with a row or two each are one stratum, because then all differences are between problems. */
static void strata_join(struct pattern *pattern) {
	size_t strata = 0;
	for (size_t i = 0; i < pattern->count; i = pattern_stratum_end(pattern, i))
		strata++;
	for (size_t i = 0; i < pattern->count && 3 * strata > pattern->count; i++)
		pattern->strata[i] = 0;
}

static void values_centre(const struct study *study, struct pattern *pattern) {
	for (size_t i = 0, end; i < pattern->count; i = end) {
		double sum = 0;
		end = pattern_stratum_end(pattern, i);
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
			end = pattern_stratum_end(pattern, i);
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
