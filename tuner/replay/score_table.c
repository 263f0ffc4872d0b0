/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/stats.h"
#include "tuner/replay/score_impl.h"

const uint64_t score_points[SCORE_POINTS] = {10, 25, 50, 100, 200, 400};
const double score_targets[SCORE_TARGETS] = {.10, .05, .01};

struct score_table *score_table_new(const struct score_axis *axis, size_t runs) {
	struct score_table *table = mem_alloc(1, sizeof *table);
	table->axis = axis;
	table->runs = runs;
	table->set = mem_alloc(runs, sizeof *table->set);
	table->asking = mem_alloc(runs, sizeof *table->asking);
	for (size_t i = 0; i < COLUMNS; i++) {
		table->columns[i] = mem_alloc(runs, sizeof **table->columns);
		table->order[i] = mem_alloc(runs, sizeof **table->order);
	}
	return table;
}

void score_table_free(struct score_table *table) {
	if (!table)
		return;
	for (size_t i = 0; i < COLUMNS; i++) {
		free(table->columns[i]);
		free(table->order[i]);
	}
	free(table->set);
	free(table->asking);
	free(table);
}

/* The best value after each evaluation; NAN until one worked. */
static double *bests_of(const struct replay *replay) {
	double *bests = mem_alloc(replay->count + 1, sizeof *bests), best = NAN;
	for (size_t i = 0; i < replay->count; i++) {
		best = fmin(best, replay->steps[i].value);
		bests[i] = best;
	}
	return bests;
}

/* The best value after the first `count` evaluations. */
static double best_after(const double *bests, const struct replay *replay, double count) {
	size_t done = count < (double)replay->count ? (size_t)count : replay->count;
	return done ? bests[done - 1] : NAN;
}

static void curves_set(struct score_table *table, size_t run, const struct replay *replay, const double *bests) {
	const struct score_axis *axis = table->axis;
	size_t done = 0;
	for (int i = 0; i < SCORE_CURVE; i++) {
		while (done < replay->count && replay->steps[done].seconds <= axis->points[i] * axis->each)
			done++;
		double time = done ? bests[done - 1] : NAN, evals = best_after(bests, replay, rint(axis->points[i]));
		table->columns[COLUMN_TIME + i][run] = isnan(time) ? axis->median : time;
		table->columns[COLUMN_EVALS + i][run] = isnan(evals) ? axis->median : evals;
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

void score_table_set(struct score_table *table, size_t run, const struct replay *replay, uint64_t limit) {
	double *bests = bests_of(replay), optimum = table->axis->optimum;
	curves_set(table, run, replay, bests);
	for (int i = 0; i < SCORE_POINTS; i++) {
		double best = best_after(bests, replay, (double)score_points[i]), ratio = isnan(best) ? 0 : optimum / best;
		table->columns[COLUMN_RATIO + i][run] = limit && score_points[i] > limit ? NAN : ratio;
	}
	for (int i = 0; i < SCORE_TARGETS; i++)
		table->columns[COLUMN_TO + i][run] = first_within(bests, replay->count, optimum * (1 + score_targets[i]));
	table->asking[run] = asking_of(replay);
	table->set[run] = true;
	free(bests);
}

size_t score_table_runs(const struct score_table *table) {
	size_t count = 0;
	for (size_t i = 0; i < table->runs; i++)
		count += table->set[i];
	return count;
}

double score_table_asking(const struct score_table *table) {
	double *each = mem_alloc(table->runs, sizeof *each);
	size_t count = 0;
	for (size_t i = 0; i < table->runs; i++)
		if (table->set[i] && !isnan(table->asking[i]))
			each[count++] = table->asking[i];
	double median = stats_median(each, count);
	free(each);
	return median;
}
