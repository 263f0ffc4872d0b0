/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How good a search is on a recorded space. The score is performance over time against a random search: 0 is as good
 * as random, 1 finds the optimum at once (Willemsen et al., A methodology for comparing optimization algorithms for
 * auto-tuning, 2024). Its axis goes from where a random search is expected to have come 1 % of the way from the
 * space's median to the optimum to where it has come 95 %. There are three variants, each over time and over
 * evaluations:
 * - by rank: the baseline is the value at the rank that the best of M random configurations is expected to have, and
 * runs count with their mean. This is the published baseline.
 * - by rank, with the median of the runs, which a few slow configurations move less.
 * - against the mean that a random search really reaches, with the mean of the runs: a random search scores 0.
 * A run counts as the space's median until it has a configuration that works; one that ended keeps its best. */
#ifndef TUNER_REPLAY_SCORE_H
#define TUNER_REPLAY_SCORE_H

#include "tuner/record/record.h"
#include "tuner/search/search.h"

/* Plays a strategy on a recorded space, where every evaluation is looked up. Each configuration counts once, also one
 * that failed; one that breaks a restriction is not part of the space. */
struct replay_step {
	uint64_t index;
	double value;    /* as recorded; NAN: failed */
	double measured; /* with the noise */
	double seconds;  /* recorded cost, from the beginning to the end of this evaluation */
	double asking;   /* seconds of our own to propose it and to learn from it; a batch is shared equally */
};

struct replay {
	struct replay_step *steps;
	size_t count;
	double asking; /* seconds spent in the strategy itself */
	struct leader chosen;
	double noise; /* as the repeats have shown it; NAN: there were none */
};

struct replay_task {
	const struct record *record;
	const struct strategy *strategy;
	uint64_t seed;
	const uint64_t *start; /* evaluated first, as the baseline; NULL: no baseline */
	uint64_t evaluations;  /* at most; 0: until the space is used up */
	double seconds;        /* recorded cost at most: an evaluation that would end later is not made; 0: no limit */
	uint64_t expected;     /* evaluations that the strategy may expect; 0: derived from the limits above */
	size_t batch;          /* configurations per request; results are told when all are done; 0: 1 */
	const struct strategy_source *sources; /* results from elsewhere */
	size_t source_count;
	bool counters;                           /* pass the recorded counters to the strategy */
	const struct strategy_outcome *outcomes; /* from replay_outcomes with the same `counters`; NULL: made as needed */
	double noise; /* deviation of the logarithm of a value; the last tenth of the budget then repeats the leaders */
	double until; /* end at a value as good as this; 0: do not */
	/* Called after every evaluation; true ends the replay. May be NULL. */
	bool (*enough)(void *ctx, const struct search *search, const struct replay *replay);
	void *ctx;
};

int replay_run(const struct replay_task *task, struct replay *replay, struct err *err);
void replay_clear(struct replay *replay);
/* The outcomes of all rows, for many repeats. */
const struct strategy_outcome *replay_outcomes(const struct record *record, bool counters, struct arena *arena);
/* The number of evaluations that the task can reach. */
uint64_t replay_most(const struct replay_task *task);

/* Uses a recorded space as earlier results for a similar space. */

/* The rows of `from` that `space` has as well, matched by the names and values of their parameters. A parameter that
 * only `from` has is dropped, and the best of the rows that become equal stays. The result lives in the arena; `name`
 * must outlive it. */
struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena);

enum { SCORE_CURVE = 50, SCORE_POINTS = 6, SCORE_TARGETS = 3 };
extern const uint64_t score_points[SCORE_POINTS]; /* 10, 25, 50, 100, 200, 400 evaluations */
extern const double score_targets[SCORE_TARGETS]; /* 0.10, 0.05, 0.01 over the optimum */

struct score_axis {
	double *values; /* of the configurations that work, worst first */
	uint64_t count;
	double optimum, median;
	double each;                /* seconds of a typical evaluation, 0: no costs are recorded */
	uint64_t start, cutoff;     /* evaluations */
	double points[SCORE_CURVE]; /* evaluations; times `each`: seconds */
	double by_rank[SCORE_CURVE], expected_evals[SCORE_CURVE], expected_time[SCORE_CURVE];
};

struct score_axis *score_axis_new(const struct record *record);
void score_axis_free(struct score_axis *axis);
/* The value at the expected rank of the best of this many random evaluations. */
double score_axis_baseline(const struct score_axis *axis, double evaluations);
/* The evaluations that a run needs: up to the end of the axis, and to the last of score_points. */
uint64_t score_axis_length(const struct score_axis *axis);
/* Is the run long enough for all figures? */
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
struct score_table;
struct score_table *score_table_new(const struct score_axis *axis, size_t runs); /* the axis outlives it */
void score_table_free(struct score_table *table);
/* limit: evaluations that the run was allowed, 0: as many as it needs. Figures beyond the limit are unknown. Different
 * runs may be set by different threads. */
void score_table_set(struct score_table *table, size_t run, const struct replay *replay, uint64_t limit);
size_t score_table_runs(const struct score_table *table);   /* how many were set */
double score_table_asking(const struct score_table *table); /* seconds a proposal, median over runs of their medians */
/* The results of every table, and in results[count] their means, which for numbers of evaluations are geometric. Every
 * table must have a run. The same seed gives the same intervals. */
void score_results(struct score_table *const *tables, size_t count, uint64_t seed, struct score_result *results);

/* Published results of other strategies on recorded spaces, read from a file: {"points": [10, ..], "targets": ["10%",
 * ..], "results": {"KERNEL/DEVICE": {"STRATEGY": {"ratio_at", "ratio_at_mean", "evals_to", "score_time", "score_evals",
 * "score_evals_median_rank"}}}}, the lists in the order of points and targets. */

struct score_peer {
	const char *name;
	double figures[SCORE_FIGURES]; /* NAN: unknown */
};

struct score_peers;
struct score_peers *score_peers_read(const char *path, struct err *err);
void score_peers_free(struct score_peers *peers);
/* The file's name for the space: KERNEL.DEVICE.json.gz is "KERNEL/DEVICE"; else the names of kernel and device decide.
 * NULL if the file does not have the space. */
const char *score_peers_space(const struct score_peers *peers, const char *path, const struct record *record);
/* The peers that were measured on all these spaces, with figures over all of them; the caller frees the array. */
struct score_peer *score_peers_over(const struct score_peers *peers, const char *const *spaces, size_t count,
                                    size_t *found);
#endif
