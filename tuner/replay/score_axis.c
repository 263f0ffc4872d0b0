/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline of the score: what random search reaches after a number of evaluations or seconds (doc/replay.md, "The
 * score"). */
#include <math.h>

#include "base/stats.h"
#include "tuner/replay/score_impl.h"

/* Figures of the runs, and their intervals: runs drawn again with replacement (Efron and Tibshirani, An introduction to
 * the bootstrap, 1993, chapter 13), percentiles of the figures. Medians of a draw come from the order that is sorted
 * once. */

enum { DRAWS = 1000 };
static const double LOW = .025, HIGH = .975;

/* Insertion keeps runs of the same value in their order; there are few. */
static void column_sort(const struct score_table *table, const double *column, size_t *order) {
	size_t count = 0;
	for (size_t run = 0; run < table->runs; run++) {
		size_t at = count;
		if (!table->set[run])
			continue;
		for (; at > 0 && column[order[at - 1]] > column[run]; at--)
			order[at] = order[at - 1];
		order[at] = run;
		count++;
	}
}

static void score_table_sort(struct score_table *table) {
	table->count = score_table_runs(table);
	for (size_t i = 0; i < COLUMNS; i++)
		column_sort(table, table->columns[i], table->order[i]);
}

static double column_mean(const struct score_table *table, size_t column, const unsigned *weight) {
	double sum = 0, total = 0;
	for (size_t run = 0; run < table->runs; run++) {
		sum += weight[run] ? weight[run] * table->columns[column][run] : 0;
		total += weight[run];
	}
	return sum / total;
}

static double column_median(const struct score_table *table, size_t column, const unsigned *weight) {
	size_t half = table->count / 2, passed = 0;
	double before = NAN;
	for (size_t i = 0; i < table->count; i++) {
		size_t run = table->order[column][i];
		double value = table->columns[column][run];
		passed += weight[run];
		if (passed > half)
			return table->count % 2 || isnan(before) ? value : (before + value) / 2;
		if (passed == half && isnan(before))
			before = value;
	}
	return NAN;
}

typedef double column_figure(const struct score_table *table, size_t column, const unsigned *weight);

/* Points where the baseline is already the optimum are left out. */
static double curve_score(const struct score_table *table, size_t column, column_figure *found, const double *baseline,
                          const unsigned *weight) {
	double sum = 0, optimum = table->axis->optimum;
	int count = 0;
	for (int i = 0; i < SCORE_CURVE; i++) {
		if (!(baseline[i] > optimum))
			continue;
		sum += (baseline[i] - found(table, column + (size_t)i, weight)) / (baseline[i] - optimum);
		count++;
	}
	return count ? sum / count : NAN;
}

/* The figures if run i counts weight[i] times. */
static void score_table_figures(const struct score_table *table, const unsigned *weight,
                                double figures[SCORE_FIGURES]) {
	const struct score_axis *axis = table->axis;
	figures[SCORE_EVALS] = curve_score(table, COLUMN_EVALS, column_mean, axis->by_rank, weight);
	figures[SCORE_EVALS_MEDIAN] = curve_score(table, COLUMN_EVALS, column_median, axis->by_rank, weight);
	figures[SCORE_EVALS_EXPECTED] = curve_score(table, COLUMN_EVALS, column_mean, axis->expected_evals, weight);
	figures[SCORE_TIME] = figures[SCORE_TIME_MEDIAN] = figures[SCORE_TIME_EXPECTED] = NAN;
	if (axis->each > 0) {
		figures[SCORE_TIME] = curve_score(table, COLUMN_TIME, column_mean, axis->by_rank, weight);
		figures[SCORE_TIME_MEDIAN] = curve_score(table, COLUMN_TIME, column_median, axis->by_rank, weight);
		figures[SCORE_TIME_EXPECTED] = curve_score(table, COLUMN_TIME, column_mean, axis->expected_time, weight);
	}
	for (size_t i = 0; i < SCORE_POINTS; i++) {
		figures[SCORE_RATIO + i] = column_median(table, COLUMN_RATIO + i, weight);
		figures[SCORE_RATIO_MEAN + i] = column_mean(table, COLUMN_RATIO + i, weight);
	}
	for (size_t i = 0; i < SCORE_TARGETS; i++)
		figures[SCORE_TO + i] = column_median(table, COLUMN_TO + i, weight);
}

static void draw(const struct score_table *table, struct rng *rng, unsigned *weight) {
	memset(weight, 0, table->runs * sizeof *weight);
	for (size_t i = 0; i < table->count; i++)
		weight[table->order[0][rng_below(rng, table->count)]]++;
}

/* The mean over the spaces; a space where a figure is unknown is left out of that figure. */
static void combine(double (*spaces)[SCORE_FIGURES], size_t count, double all[SCORE_FIGURES]) {
	for (int figure = 0; figure < SCORE_FIGURES; figure++) {
		double sum = 0, known = 0;
		for (size_t i = 0; i < count; i++) {
			double value = spaces[i][figure];
			if (isnan(value))
				continue;
			sum += figure >= SCORE_TO ? log(value) : value;
			known++;
		}
		double mean = known > 0 ? sum / known : NAN;
		all[figure] = figure >= SCORE_TO ? exp(mean) : mean;
	}
}

/* The figures of every table and over all tables for one draw, or with rng NULL for the runs as they are. */
static void figures_draw(struct score_table *const *tables, size_t count, struct rng *rng, unsigned *weight,
                         double (*figures)[SCORE_FIGURES]) {
	for (size_t i = 0; i < count; i++) {
		for (size_t run = 0; !rng && run < tables[i]->runs; run++)
			weight[run] = tables[i]->set[run];
		if (rng)
			draw(tables[i], rng, weight);
		score_table_figures(tables[i], weight, figures[i]);
	}
	combine(figures, count, figures[count]);
}

void score_results(struct score_table *const *tables, size_t count, uint64_t seed, struct score_result *results) {
	size_t most = 1, all = (count + 1) * SCORE_FIGURES;
	for (size_t i = 0; i < count; i++) {
		score_table_sort(tables[i]);
		most = tables[i]->runs > most ? tables[i]->runs : most;
	}
	mem_auto unsigned *weight = mem_alloc(most, sizeof *weight);
	double(*figures)[SCORE_FIGURES] = mem_alloc(count + 1, sizeof *figures);
	mem_auto double *samples = mem_alloc(all * DRAWS, sizeof *samples);
	struct rng rng;
	rng_split(&rng, seed, "score bootstrap");
	for (size_t i = 0; i < DRAWS; i++) {
		figures_draw(tables, count, &rng, weight, figures);
		for (size_t f = 0; f < all; f++)
			samples[f * DRAWS + i] = figures[f / SCORE_FIGURES][f % SCORE_FIGURES];
	}
	figures_draw(tables, count, NULL, weight, figures);
	for (size_t f = 0; f < all; f++) {
		struct score_result *result = &results[f / SCORE_FIGURES];
		size_t figure = f % SCORE_FIGURES;
		result->value[figure] = figures[f / SCORE_FIGURES][figure];
		result->low[figure] = stats_quantile(&samples[f * DRAWS], DRAWS, LOW);
		result->high[figure] = stats_quantile(&samples[f * DRAWS], DRAWS, HIGH);
	}
	free(figures);
}

enum { EXPECTED_RUNS = 2000 };
static const double FIRST = .01, LAST = .95, NEGLIGIBLE = 1e-15;

static int worst_first(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

static void values_sort(struct score_axis *axis, const struct record *record) {
	uint64_t all = space_valid(record->space);
	axis->values = mem_alloc(record->correct, sizeof *axis->values);
	for (uint64_t i = 0; i < all && axis->count < record->correct; i++)
		if (record->rows[i].status == RECORD_CORRECT)
			axis->values[axis->count++] = record->rows[i].value;
	qsort(axis->values, axis->count, sizeof *axis->values, worst_first);
}

static double cost_typical(const struct record *record) {
	uint64_t all = space_valid(record->space);
	mem_auto double *costs = mem_alloc(all, sizeof *costs);
	for (uint64_t i = 0; i < all; i++)
		costs[i] = record_row_cost(&record->rows[i]);
	double median = stats_median(costs, all);
	return median > 0 ? median : 0;
}

/* Evaluations that a random search needs for the share `p` of the way from the median to the optimum. */
static uint64_t score_axis_evaluations(const struct score_axis *axis, double p) {
	double wanted = axis->optimum + (axis->median - axis->optimum) * (1 - p);
	uint64_t i = 0;
	while (i + 1 < axis->count && axis->values[i] > wanted)
		i++;
	double evaluations = ceil((double)i / (double)(axis->count + 1 - i));
	return evaluations > 1 ? (uint64_t)evaluations : 1;
}

double score_axis_baseline(const struct score_axis *axis, double evaluations) {
	double m = fmax(1, rint(evaluations)), n = (double)axis->count;
	double place = rint(m * (n + 1) / (m + 1));
	return axis->values[place < n - 1 ? (uint64_t)place : axis->count - 1];
}

/* The mean of the best of m drawn without replacement from `all`: the best is the j-th of those that work where that
 * one is drawn and the j - 1 better ones are not. */
static double best_expected(const struct score_axis *axis, double all, double m) {
	double chance = m / all, sum = 0, total = 0;
	for (uint64_t j = 0; j < axis->count && chance > NEGLIGIBLE; j++) {
		sum += chance * axis->values[axis->count - 1 - j];
		total += chance;
		double rest = all - (double)j - 1;
		chance *= fmax(0, rest - m + 1) / fmax(1, rest);
	}
	return sum + fmax(0, 1 - total) * axis->median;
}

struct draw {
	double value, cost;
};

/* Moves one that was not drawn yet to place `at`. */
static void draw_next(struct draw *draws, uint64_t at, uint64_t all, struct rng *rng) {
	struct draw *drawn = &draws[at + rng_below(rng, all - at)], next = *drawn;
	*drawn = draws[at];
	draws[at] = next;
}

/* Runs one random search and adds its best value at each point's time. An evaluation that is still running at a point
 * continues to the next one. */
static void random_play(struct score_axis *axis, struct draw *draws, uint64_t all, struct rng *rng) {
	double best = INFINITY, end; /* the end of the evaluation at place `done` */
	uint64_t done = 0;
	draw_next(draws, 0, all, rng);
	end = draws[0].cost;
	for (int point = 0; point < SCORE_CURVE; point++) {
		while (done < all && end <= axis->points[point] * axis->each) {
			best = fmin(best, draws[done++].value);
			if (done < all) {
				draw_next(draws, done, all, rng);
				end += draws[done].cost;
			}
		}
		axis->expected_time[point] += (isinf(best) ? axis->median : best) / EXPECTED_RUNS;
	}
}

/* Costs differ, so there is no closed formula: this is the mean of simulated random searches. */
static void expect_time(struct score_axis *axis, const struct record *record) {
	uint64_t all = space_valid(record->space);
	mem_auto struct draw *draws = mem_alloc(all, sizeof *draws);
	struct rng rng;
	rng_split(&rng, 0, "score baseline");
	for (uint64_t i = 0; i < all; i++) {
		const struct record_row *row = &record->rows[i];
		draws[i] = (struct draw){row->status == RECORD_CORRECT ? row->value : INFINITY, record_row_cost(row)};
	}
	for (int run = 0; axis->each > 0 && run < EXPECTED_RUNS; run++)
		random_play(axis, draws, all, &rng);
}

struct score_axis *score_axis_new(const struct record *record) {
	struct score_axis *axis = mem_alloc(1, sizeof *axis);
	values_sort(axis, record);
	axis->optimum = axis->values[axis->count - 1];
	axis->median = stats_median(axis->values, axis->count);
	axis->each = cost_typical(record);
	axis->start = score_axis_evaluations(axis, FIRST);
	axis->cutoff = score_axis_evaluations(axis, LAST);
	for (int i = 0; i < SCORE_CURVE; i++) {
		double point = (double)axis->start + (double)(axis->cutoff - axis->start) * i / (SCORE_CURVE - 1);
		axis->points[i] = point;
		axis->by_rank[i] = score_axis_baseline(axis, point);
		axis->expected_evals[i] = best_expected(axis, (double)space_valid(record->space), rint(point));
	}
	expect_time(axis, record);
	return axis;
}

void score_axis_free(struct score_axis *axis) {
	if (axis)
		free(axis->values);
	free(axis);
}

uint64_t score_axis_length(const struct score_axis *axis) {
	uint64_t last = score_points[SCORE_POINTS - 1];
	return axis->cutoff > last ? axis->cutoff : last;
}

bool score_axis_covered(const struct score_axis *axis, const struct replay *replay) {
	if (replay->count < score_axis_length(axis))
		return false;
	return replay->steps[replay->count - 1].seconds >= axis->points[SCORE_CURVE - 1] * axis->each;
}
