/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the runs, and their intervals: runs drawn again with replacement (Efron and Tibshirani, An introduction to
 * the bootstrap, 1993, chapter 13), percentiles of the figures. Medians of a draw come from the order that is sorted
 * once. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/stats.h"
#include "tuner/replay/score_impl.h"

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
	unsigned *weight = mem_alloc(most, sizeof *weight);
	double(*figures)[SCORE_FIGURES] = mem_alloc(count + 1, sizeof *figures);
	double *samples = mem_alloc(all * DRAWS, sizeof *samples);
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
	free(samples);
	free(figures);
	free(weight);
}
