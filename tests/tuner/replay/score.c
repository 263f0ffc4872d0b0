/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The score's figures, by hand on spaces small enough for it. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tests/tuner/replay/record_made.h"
#include "tuner/replay/score.h"

static double line(int x, int y) {
	(void)y;
	return 10 - x; /* 10 9 .. 1 */
}

static double broad(int x, int y) {
	return 100 - (x * 10 + y) + (x == 3 && y == 3 ? NAN : 0); /* 100 .. 1, one fails */
}

static bool near(double a, double b) {
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* A run whose n-th evaluation takes the n-th second. */
static struct replay run_of(const double *values, size_t count) {
	struct replay replay = {.steps = mem_alloc(count + 1, sizeof *replay.steps), .count = count};
	for (size_t i = 0; i < count; i++)
		replay.steps[i] = (struct replay_step){.value = values[i], .seconds = (double)(i + 1), .asking = 1e-6};
	return replay;
}

/* N = 10, optimum 1, median 5.5. p = .01: c = 5.455, i = 5 (value 5), ceil(5 / 6) = 1. p = .95: c = 1.225, i = 9,
 * ceil(9 / 2) = 5. */
static void axis(void) {
	struct record *record = record_made(10, 1, line, 1);
	struct score_axis *axis = score_axis_new(record);
	ok(axis->count == 10 && axis->optimum == 1 && near(axis->median, 5.5), "values, optimum and median");
	ok(axis->start == 1 && axis->cutoff == 5, "the axis goes from 1 to 5 evaluations, not %d to %d", (int)axis->start,
	   (int)axis->cutoff);
	ok(near(axis->each, 1), "an evaluation costs 1 s");
	ok(near(axis->points[0], 1) && near(axis->points[SCORE_CURVE - 1], 5), "points from end to end");
	/* M = 1: round(1 * 11 / 2) = round(5.5) = 6, to even; M = 2: round(22 / 3) = 7; M = 100: the last */
	ok(score_axis_baseline(axis, 1) == 4, "baseline after 1");
	ok(score_axis_baseline(axis, 0) == 4, "baseline after less than one is that after 1");
	ok(score_axis_baseline(axis, 2) == 3, "baseline after 2");
	ok(score_axis_baseline(axis, 100) == 1, "baseline after more than there are");
	/* the mean of one; the mean minimum of 5 of 1..10 without replacement is (10 + 1) / (5 + 1) */
	ok(near(axis->expected_evals[0], 5.5), "random's mean after 1: %g", axis->expected_evals[0]);
	ok(near(axis->expected_evals[SCORE_CURVE - 1], 11. / 6), "random's mean after 5: %g",
	   axis->expected_evals[SCORE_CURVE - 1]);
	ok(fabs(axis->expected_time[SCORE_CURVE - 1] - 11. / 6) < .1, "played: %g", axis->expected_time[SCORE_CURVE - 1]);
	score_axis_free(axis);
	record_free(record);
}

static void figures_of(const struct score_axis *axis, const struct replay *runs, size_t count,
                       struct score_result *results) {
	struct score_table *table = score_table_new(axis, count);
	for (size_t i = 0; i < count; i++)
		score_table_set(table, i, &runs[i], 0);
	score_results(&table, 1, 1, results);
	ok(score_table_runs(table) == count && near(score_table_asking(table), 1e-6), "%zu runs are in the table", count);
	score_table_free(table);
}

/* Points where the baseline is not yet the optimum; a run at `value` from the first evaluation on. */
static double constant_score(const struct score_axis *axis, double value) {
	double sum = 0;
	int count = 0;
	for (int i = 0; i < SCORE_CURVE; i++)
		if (axis->by_rank[i] > axis->optimum) {
			sum += (axis->by_rank[i] - value) / (axis->by_rank[i] - axis->optimum);
			count++;
		}
	return sum / count;
}

static void scores(void) {
	static const double best[] = {1}, early[] = {3, 2.5}, nothing[] = {NAN, NAN, NAN}, late[] = {NAN, 1.04};
	struct record *record = record_made(10, 1, line, 1);
	struct score_axis *axis = score_axis_new(record);
	struct score_result results[2];
	struct replay run = run_of(best, 1);
	figures_of(axis, &run, 1, results);
	ok(near(results[0].value[SCORE_TIME], 1) && near(results[0].value[SCORE_EVALS_EXPECTED], 1),
	   "the optimum at once scores 1, though the run ended there");
	ok(results[0].value[SCORE_TO] == 1 && results[0].value[SCORE_TO + 2] == 1,
	   "the optimum at once takes 1 evaluation to 10 and to 1 %%");
	ok(near(results[1].value[SCORE_TIME], results[0].value[SCORE_TIME]), "over one space is that space");
	replay_clear(&run);
	run = run_of(nothing, 3);
	figures_of(axis, &run, 1, results);
	ok(near(results[0].value[SCORE_EVALS], constant_score(axis, 5.5)), "nothing that works counts as the median");
	ok(results[0].value[SCORE_RATIO] == 0 && isinf(results[0].value[SCORE_TO]), "ratio 0, never within 10 %%");
	replay_clear(&run);
	run = run_of(early, 2);
	figures_of(axis, &run, 1, results);
	ok(near(results[0].value[SCORE_RATIO + 5], 1 / 2.5), "a run that ended keeps its best");
	replay_clear(&run);
	run = run_of(late, 2);
	figures_of(axis, &run, 1, results);
	ok(results[0].value[SCORE_TO] == 2 && results[0].value[SCORE_TO + 1] == 2 && isinf(results[0].value[SCORE_TO + 2]),
	   "1.04 is within 10 and 5 %% but not 1 %%, in 2: a failure counts");
	replay_clear(&run);
	score_axis_free(axis);
	record_free(record);
}

/* Ratios at 10 of the runs: 1, 0.5, 0.25, 0.2. */
static void several(void) {
	static const double values[][1] = {{1}, {2}, {4}, {5}};
	struct record *record = record_made(10, 1, line, 1);
	struct score_axis *axis = score_axis_new(record);
	struct score_result results[2], again[2];
	struct replay runs[4];
	for (size_t i = 0; i < 4; i++)
		runs[i] = run_of(values[i], 1);
	figures_of(axis, runs, 4, results);
	figures_of(axis, runs, 4, again);
	ok(near(results[0].value[SCORE_RATIO], .375), "the median of four is between the middle two");
	ok(near(results[0].value[SCORE_RATIO_MEAN], .4875), "the mean is of all");
	ok(isinf(results[0].value[SCORE_TO]), "the median run never came within 10 %%");
	ok(memcmp(results, again, sizeof results) == 0, "the same seed gives the same intervals");
	bool inside = true;
	for (size_t f = 0; f < SCORE_TO; f++)
		inside = inside && results[0].low[f] <= results[0].value[f] && results[0].value[f] <= results[0].high[f];
	ok(inside, "values are in their intervals");
	ok(results[0].low[SCORE_RATIO] < .375 && results[0].high[SCORE_RATIO] > .375, "intervals are wider than nothing");
	for (size_t i = 0; i < 4; i++)
		replay_clear(&runs[i]);
	score_axis_free(axis);
	record_free(record);
}

/* A random search scores 0 against its own mean. */
static void random_is_zero(void) {
	enum { RUNS = 400 };
	struct record *record = record_made(10, 10, broad, 2);
	struct score_axis *axis = score_axis_new(record);
	struct score_table *table = score_table_new(axis, RUNS);
	struct score_result results[2];
	struct err err = {0};
	ok(axis->count == 99, "one of 100 fails");
	for (size_t i = 0; i < RUNS; i++) {
		struct replay_task task = {.record = record, .strategy = strategy_find("random"), .seed = i};
		struct replay replay;
		if (replay_run(&task, &replay, &err) == 0)
			score_table_set(table, i, &replay, 0);
		replay_clear(&replay);
	}
	score_results(&table, 1, 1, results);
	ok(score_table_runs(table) == RUNS, "all runs are there");
	ok(fabs(results[0].value[SCORE_EVALS_EXPECTED]) < .1, "random scores 0 over evaluations: %g",
	   results[0].value[SCORE_EVALS_EXPECTED]);
	ok(fabs(results[0].value[SCORE_TIME_EXPECTED]) < .1, "random scores 0 over time: %g",
	   results[0].value[SCORE_TIME_EXPECTED]);
	score_table_free(table);
	score_axis_free(axis);
	record_free(record);
}

static void limited(void) {
	static const double values[] = {5, 4, 3};
	struct record *record = record_made(10, 1, line, 1);
	struct score_axis *axis = score_axis_new(record);
	struct score_table *table = score_table_new(axis, 2);
	struct score_result results[2];
	struct replay run = run_of(values, 3);
	score_table_set(table, 1, &run, 30);
	score_results(&table, 1, 1, results);
	ok(score_table_runs(table) == 1, "a run that was not made is left out");
	ok(near(results[0].value[SCORE_RATIO + 1], 1. / 3) && isnan(results[0].value[SCORE_RATIO + 2]),
	   "figures beyond the budget are unknown");
	replay_clear(&run);
	score_table_free(table);
	score_axis_free(axis);
	record_free(record);
}

int main(void) {
	axis();
	scores();
	several();
	random_is_zero();
	limited();
	return tap_done();
}
