/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/stats.h"
#include "tuner/replay/score_impl.h"

const uint64_t score_points[SCORE_POINTS] = {10, 25, 50, 100, 200, 400};
const double score_targets[SCORE_TARGETS] = {.10, .05, .01};

struct score_sheet *score_sheet_new(const struct score_axis *axis, size_t runs) {
	struct score_sheet *sheet = mem_alloc(1, sizeof *sheet);
	sheet->axis = axis;
	sheet->runs = runs;
	sheet->set = mem_alloc(runs, sizeof *sheet->set);
	sheet->asking = mem_alloc(runs, sizeof *sheet->asking);
	for (size_t i = 0; i < COLUMNS; i++) {
		sheet->columns[i] = mem_alloc(runs, sizeof **sheet->columns);
		sheet->order[i] = mem_alloc(runs, sizeof **sheet->order);
	}
	return sheet;
}

void score_sheet_free(struct score_sheet *sheet) {
	if (!sheet)
		return;
	for (size_t i = 0; i < COLUMNS; i++) {
		free(sheet->columns[i]);
		free(sheet->order[i]);
	}
	free(sheet->set);
	free(sheet->asking);
	free(sheet);
}

/* The best after each evaluation, NAN while there is none. */
static double *bests_of(const struct replay *replay) {
	double *bests = mem_alloc(replay->count + 1, sizeof *bests), best = NAN;
	for (size_t i = 0; i < replay->count; i++) {
		best = fmin(best, replay->steps[i].value);
		bests[i] = best;
	}
	return bests;
}

/* The best after the first `count`. */
static double best_after(const double *bests, const struct replay *replay, double count) {
	size_t done = count < (double)replay->count ? (size_t)count : replay->count;
	return done ? bests[done - 1] : NAN;
}

static void curves_set(struct score_sheet *sheet, size_t run, const struct replay *replay, const double *bests) {
	const struct score_axis *axis = sheet->axis;
	size_t done = 0;
	for (int i = 0; i < SCORE_CURVE; i++) {
		while (done < replay->count && replay->steps[done].seconds <= axis->points[i] * axis->each)
			done++;
		double time = done ? bests[done - 1] : NAN, evals = best_after(bests, replay, rint(axis->points[i]));
		sheet->columns[COLUMN_TIME + i][run] = isnan(time) ? axis->median : time;
		sheet->columns[COLUMN_EVALS + i][run] = isnan(evals) ? axis->median : evals;
	}
}

static double first_within(const double *bests, size_t count, double limit) {
	for (size_t i = 0; i < count; i++)
		if (bests[i] <= limit)
			return (double)(i + 1);
	return INFINITY;
}

static double asking_of(const struct replay *replay) {
	double *each = mem_alloc(replay->count + 1, sizeof *each);
	for (size_t i = 0; i < replay->count; i++)
		each[i] = replay->steps[i].asking;
	double median = stats_median(each, replay->count);
	free(each);
	return median;
}

void score_sheet_set(struct score_sheet *sheet, size_t run, const struct replay *replay, uint64_t limit) {
	double *bests = bests_of(replay), optimum = sheet->axis->optimum;
	curves_set(sheet, run, replay, bests);
	for (int i = 0; i < SCORE_POINTS; i++) {
		double best = best_after(bests, replay, (double)score_points[i]), ratio = isnan(best) ? 0 : optimum / best;
		sheet->columns[COLUMN_RATIO + i][run] = limit && score_points[i] > limit ? NAN : ratio;
	}
	for (int i = 0; i < SCORE_TARGETS; i++)
		sheet->columns[COLUMN_TO + i][run] = first_within(bests, replay->count, optimum * (1 + score_targets[i]));
	sheet->asking[run] = asking_of(replay);
	sheet->set[run] = true;
	free(bests);
}

size_t score_sheet_runs(const struct score_sheet *sheet) {
	size_t count = 0;
	for (size_t i = 0; i < sheet->runs; i++)
		count += sheet->set[i];
	return count;
}

double score_sheet_asking(const struct score_sheet *sheet) {
	double *each = mem_alloc(sheet->runs, sizeof *each);
	size_t count = 0;
	for (size_t i = 0; i < sheet->runs; i++)
		if (sheet->set[i] && !isnan(sheet->asking[i]))
			each[count++] = sheet->asking[i];
	double median = stats_median(each, count);
	free(each);
	return median;
}
