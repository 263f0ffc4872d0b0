/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interleaved comparison: the duel of two configurations and the race of several. Both measure through a runner, in
 * blocks of random order, and analyse ratios within blocks (model/paired.h). */
#ifndef TUNER_RACE_RACE_H
#define TUNER_RACE_RACE_H
#include "src/base/rng.h"
#include "tuner/race/block.h"
#include "tuner/model/paired.h"
#include "tuner/trial/trial.h"

/* Told of every trial as it ends (to store it, to show progress). Non-zero stops the comparison with that error set. */
struct race_observer {
	void *ctx;
	int (*trial)(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
	             struct err *err);
};

struct duel_options {
	int pairs_min;      /* >= 21 for a verdict that is published */
	int pairs_max;      /* goes on in at most 4 steps while undecided, up to this */
	double margin;      /* 0.01: what counts as a difference */
	double level;       /* 0.95: of the published interval, all looks at the pairs together */
	double seconds_max; /* after pairs_min, no new pairs past this; 0: no limit */
	bool control;       /* measure `a` a second time in every block: the A/A control */
	uint64_t seed;
	const char *phase;                 /* "duel", "compare": for the observer */
	const struct block_runner *blocks; /* measures in the place of the runner, several at once; NULL: none does */
};
extern const struct duel_options duel_defaults;

struct duel_result {
	struct paired paired;  /* a against b: ratio < 1 means a is faster */
	struct paired control; /* a against itself; count 0 without control */
	enum paired_verdict verdict;
	double median[2], ci[2][2];  /* of the samples of a and b, seconds */
	double *a, *b;               /* the pairs, paired.count each */
	int failures;                /* blocks lost to failing trials */
	enum trial_status failed[2]; /* the last failure of each, TRIAL_CORRECT: none */
};
void duel_result_clear(struct duel_result *result);

/* request: kernel, problem, seed, time-out, min_sample_s (at least 1 ms is taken); its config, samples, warm-up and
 * limit are set here. -1: interrupted, or neither side could be measured (ERR_NOTHING). A block with a failed trial
 * gives no pair; a side loses after 3 failures in a row, more than a third of at least 12 trials, or at once with a
 * wrong result (or compile, constraints): the verdict follows, failed[] says why, and without pairs paired.count is 0
 * and its ratio NAN. */
int duel_run(struct runner *runner, const struct trial_request *request, const json_t *a, const json_t *b,
             const struct duel_options *options, const struct race_observer *observer, struct duel_result *result,
             struct err *err);
/* What the control says can't be told apart here: the larger distance of its interval from 1; NAN without control. */
double duel_noise_floor(const struct duel_result *result);

struct race_entry {
	const json_t *config;
	double estimate; /* the search's median, for planning only */
	double cost;     /* smaller is cheaper: decides ties */
	/* results */
	double median;            /* of its race samples */
	int blocks;               /* measured in */
	bool alive;               /* not eliminated and not failed */
	enum trial_status failed; /* TRIAL_CORRECT: none */
};

struct race_options {
	int blocks_min, blocks_max; /* eliminations begin after blocks_min (5) */
	double margin, level;
	double seconds_max; /* after blocks_min, no new blocks past this; 0: no limit */
	uint64_t seed;
	const struct block_runner *blocks; /* as of a duel */
};
extern const struct race_options race_defaults;

/* Blocks in random order, each surviving entry once per block; after blocks_min a survivor that is slower than the best
 * (Wilcoxon on log ratios, Holm over the field) drops out, a cheaper one only when slower by more than the margin; ends
 * with one survivor, or when more blocks would not change the choice. *winner: of the survivors within the margin of
 * the best the cheapest. Failures as in a duel. entries are updated in place. -1: interrupted, or all failed
 * (ERR_NOTHING). */
int race_run(struct runner *runner, const struct trial_request *request, struct race_entry *entries, size_t count,
             const struct race_options *options, const struct race_observer *observer, size_t *winner, struct err *err);

#endif
