/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How good a search is on a recorded space. The score is performance over time against a random search: 0 is as good
 * as random, 1 finds the optimum at once (Willemsen et al., A methodology for comparing optimization algorithms for
 * auto-tuning, 2024). Its axis goes from where a random search is expected to have come 1 % of the way from the
 * space's median to the optimum to where it has come 95 %. Three readings of it, each over time and over evaluations:
 * - by rank: the baseline is the value at the rank that the best of M random ones is expected to have; of the runs the
 *   mean. This is the published baseline.
 * - by rank, of the runs the median: less moved by a few slow configurations.
 * - against the mean that a random search really comes to, of the runs the mean: a random search scores 0.
 * A run that has nothing yet that works counts as the space's median; one that ended keeps its best. */
#ifndef TUNER_REPLAY_SCORE_H
#define TUNER_REPLAY_SCORE_H
#include "tuner/replay/replay.h"

enum { SCORE_CURVE = 50, SCORE_POINTS = 6, SCORE_TARGETS = 3 };
extern const uint64_t score_points[SCORE_POINTS]; /* 10, 25, 50, 100, 200, 400 evaluations */
extern const double score_targets[SCORE_TARGETS]; /* 0.10, 0.05, 0.01 over the optimum */

struct score_axis {
	double *values; /* of what works, worst first */
	uint64_t count;
	double optimum, median;
	double each;                /* seconds of a typical evaluation, 0: no costs are recorded */
	uint64_t start, cutoff;     /* evaluations */
	double points[SCORE_CURVE]; /* evaluations; times `each`: seconds */
	double by_rank[SCORE_CURVE], expected_evals[SCORE_CURVE], expected_time[SCORE_CURVE];
};

struct score_axis *score_axis_new(const struct record *record);
void score_axis_free(struct score_axis *axis);
/* Evaluations that a random search needs for the share `p` of the way from the median to the optimum. */
uint64_t score_axis_evaluations(const struct score_axis *axis, double p);
/* The value at the expected rank of the best of so many. */
double score_axis_baseline(const struct score_axis *axis, double evaluations);
/* Evaluations that a run is made for: up to the end of the axis, and the last of score_points. */
uint64_t score_axis_length(const struct score_axis *axis);
/* Has the run all that the figures need? */
bool score_axis_covered(const struct score_axis *axis, const struct replay *replay);

enum score_figure {
	SCORE_TIME,
	SCORE_EVALS,
	SCORE_TIME_MEDIAN,
	SCORE_EVALS_MEDIAN,
	SCORE_TIME_EXPECTED,
	SCORE_EVALS_EXPECTED,
	SCORE_RATIO, /* optimum/best, median over runs, by score_points */
	SCORE_RATIO_MEAN = SCORE_RATIO + SCORE_POINTS,
	SCORE_TO = SCORE_RATIO_MEAN + SCORE_POINTS, /* evaluations, median over runs, by score_targets; INFINITY: never */
	SCORE_FIGURES = SCORE_TO + SCORE_TARGETS
};

struct score_result {
	double value[SCORE_FIGURES], low[SCORE_FIGURES],
		high[SCORE_FIGURES]; /* 95 % over the runs, bootstrap percentiles */
};

/* The runs of one strategy on one space. */
struct score_sheet;
struct score_sheet *score_sheet_new(const struct score_axis *axis, size_t runs); /* the axis outlives it */
void score_sheet_free(struct score_sheet *sheet);
/* limit: evaluations that the run was allowed, 0: enough. Figures beyond it are not known. Different runs may be set by
 * different threads. */
void score_sheet_set(struct score_sheet *sheet, size_t run, const struct replay *replay, uint64_t limit);
size_t score_sheet_runs(const struct score_sheet *sheet);   /* that were set */
double score_sheet_asking(const struct score_sheet *sheet); /* seconds a proposal, median over runs of their medians */
/* Results of every table, and in results[count] over all of them: means, and geometric means of evaluations. Each table
 * has a run. The same seed gives the same intervals. */
void score_results(struct score_sheet *const *sheets, size_t count, uint64_t seed, struct score_result *results);

#endif
