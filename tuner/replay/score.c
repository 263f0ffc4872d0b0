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
static void column_sort(const struct score_sheet *sheet, const double *column, size_t *order) {
	size_t count = 0;
	for (size_t run = 0; run < sheet->runs; run++) {
		size_t at = count;
		if (!sheet->set[run])
			continue;
		for (; at > 0 && column[order[at - 1]] > column[run]; at--)
			order[at] = order[at - 1];
		order[at] = run;
		count++;
	}
}

void score_sheet_sort(struct score_sheet *sheet) {
	sheet->count = score_sheet_runs(sheet);
	for (size_t i = 0; i < COLUMNS; i++)
		column_sort(sheet, sheet->columns[i], sheet->order[i]);
}

static double column_mean(const struct score_sheet *sheet, size_t column, const unsigned *weight) {
	double sum = 0, total = 0;
	for (size_t run = 0; run < sheet->runs; run++) {
		sum += weight[run] ? weight[run] * sheet->columns[column][run] : 0;
		total += weight[run];
	}
	return sum / total;
}

static double column_median(const struct score_sheet *sheet, size_t column, const unsigned *weight) {
	size_t half = sheet->count / 2, passed = 0;
	double before = NAN;
	for (size_t i = 0; i < sheet->count; i++) {
		size_t run = sheet->order[column][i];
		double value = sheet->columns[column][run];
		passed += weight[run];
		if (passed > half)
			return sheet->count % 2 || isnan(before) ? value : (before + value) / 2;
		if (passed == half && isnan(before))
			before = value;
	}
	return NAN;
}

typedef double column_figure(const struct score_sheet *sheet, size_t column, const unsigned *weight);

/* Points where the baseline is the optimum itself say nothing. */
static double curve_score(const struct score_sheet *sheet, size_t column, column_figure *found, const double *baseline,
                          const unsigned *weight) {
	double sum = 0, optimum = sheet->axis->optimum;
	int count = 0;
	for (int i = 0; i < SCORE_CURVE; i++) {
		if (!(baseline[i] > optimum))
			continue;
		sum += (baseline[i] - found(sheet, column + (size_t)i, weight)) / (baseline[i] - optimum);
		count++;
	}
	return count ? sum / count : NAN;
}

void score_sheet_figures(const struct score_sheet *sheet, const unsigned *weight, double figures[SCORE_FIGURES]) {
	const struct score_axis *axis = sheet->axis;
	figures[SCORE_EVALS] = curve_score(sheet, COLUMN_EVALS, column_mean, axis->by_rank, weight);
	figures[SCORE_EVALS_MEDIAN] = curve_score(sheet, COLUMN_EVALS, column_median, axis->by_rank, weight);
	figures[SCORE_EVALS_EXPECTED] = curve_score(sheet, COLUMN_EVALS, column_mean, axis->expected_evals, weight);
	figures[SCORE_TIME] = figures[SCORE_TIME_MEDIAN] = figures[SCORE_TIME_EXPECTED] = NAN;
	if (axis->each > 0) {
		figures[SCORE_TIME] = curve_score(sheet, COLUMN_TIME, column_mean, axis->by_rank, weight);
		figures[SCORE_TIME_MEDIAN] = curve_score(sheet, COLUMN_TIME, column_median, axis->by_rank, weight);
		figures[SCORE_TIME_EXPECTED] = curve_score(sheet, COLUMN_TIME, column_mean, axis->expected_time, weight);
	}
	for (size_t i = 0; i < SCORE_POINTS; i++) {
		figures[SCORE_RATIO + i] = column_median(sheet, COLUMN_RATIO + i, weight);
		figures[SCORE_RATIO_MEAN + i] = column_mean(sheet, COLUMN_RATIO + i, weight);
	}
	for (size_t i = 0; i < SCORE_TARGETS; i++)
		figures[SCORE_TO + i] = column_median(sheet, COLUMN_TO + i, weight);
}

static void draw(const struct score_sheet *sheet, struct rng *rng, unsigned *weight) {
	memset(weight, 0, sheet->runs * sizeof *weight);
	for (size_t i = 0; i < sheet->count; i++)
		weight[sheet->order[0][rng_below(rng, sheet->count)]]++;
}

/* Over the spaces; one where a figure is not known is left out of it. */
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

/* Figures of every sheet and over all of one draw, or with rng NULL of the runs as they are. */
static void figures_draw(struct score_sheet *const *sheets, size_t count, struct rng *rng, unsigned *weight,
                         double (*figures)[SCORE_FIGURES]) {
	for (size_t i = 0; i < count; i++) {
		for (size_t run = 0; !rng && run < sheets[i]->runs; run++)
			weight[run] = sheets[i]->set[run];
		if (rng)
			draw(sheets[i], rng, weight);
		score_sheet_figures(sheets[i], weight, figures[i]);
	}
	combine(figures, count, figures[count]);
}

void score_results(struct score_sheet *const *sheets, size_t count, uint64_t seed, struct score_result *results) {
	size_t most = 1, all = (count + 1) * SCORE_FIGURES;
	for (size_t i = 0; i < count; i++) {
		score_sheet_sort(sheets[i]);
		most = sheets[i]->runs > most ? sheets[i]->runs : most;
	}
	unsigned *weight = mem_alloc(most, sizeof *weight);
	double(*figures)[SCORE_FIGURES] = mem_alloc(count + 1, sizeof *figures);
	double *samples = mem_alloc(all * DRAWS, sizeof *samples);
	struct rng rng;
	rng_split(&rng, seed, "score bootstrap");
	for (size_t i = 0; i < DRAWS; i++) {
		figures_draw(sheets, count, &rng, weight, figures);
		for (size_t f = 0; f < all; f++)
			samples[f * DRAWS + i] = figures[f / SCORE_FIGURES][f % SCORE_FIGURES];
	}
	figures_draw(sheets, count, NULL, weight, figures);
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
