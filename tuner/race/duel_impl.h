/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by duel.c and duel_blocks.c only. */
#ifndef TUNER_RACE_DUEL_IMPL_H
#define TUNER_RACE_DUEL_IMPL_H
#include "tuner/race/entrant.h"

enum duel_trial { SIDE_A, SIDE_B, CONTROL, TRIALS_MAX };

struct duel {
	const struct duel_options *options;
	struct race_context context;
	struct race_entrant sides[2];
	struct rng rng;
	double *pairs[TRIALS_MAX]; /* seconds of a, b and the control, `count` each */
	int count, controls;       /* of them have a control: the first ones */
	int judged, judged_block;  /* pairs that count for certain, and the number of blocks by then */
	int look;                  /* number of pairs at which the duel looks next */
	int failures;              /* blocks that lost a trial */
	double start;
	struct blocks blocks; /* on several nodes */
	bool promising;       /* at the last look (look.h) */
	bool over;            /* the last look was taken */
};

/* Draws the order of the trials in the next block (room for TRIALS_MAX) and returns their number. The order is random,
 * so that neither side profits from running first. */
size_t duel_plan(struct duel *duel, int *order);
static inline struct race_entrant *duel_side(struct duel *duel, int trial) {
	return &duel->sides[trial == SIDE_B];
}
/* Records a block of so many trials that has ended; seconds[i] is NAN if trial i failed. */
void duel_pair_add(struct duel *duel, size_t trials, const double *seconds);
/* True if one side is out for good and it is known whether the other one works. */
bool duel_forfeited(const struct duel *duel);
/* Analyses the pairs so far. True if the duel is over: more pairs would not change the verdict, or their number or the
 * time is used up. */
bool duel_decide(struct duel *duel, struct duel_result *result);
/* Would another block end too late for the budget? */
bool duel_late(const struct duel *duel);
/* Runs the blocks of the duel on several nodes until it is over. */
int duel_blocks_measure(struct duel *duel, struct duel_result *result, struct err *err);

#endif
