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
	int count;
	int look;     /* pairs at the next look */
	int failures; /* blocks lost to failing trials */
	double start;
};

/* The order of the next block, TRIALS_MAX at most. */
size_t duel_plan(struct duel *duel, int *order);
static inline struct race_entrant *duel_side(struct duel *duel, int trial) {
	return &duel->sides[trial == SIDE_B];
}
/* A block has ended; seconds: NAN where a trial failed. */
void duel_pair_add(struct duel *duel, const double *seconds);
/* One side is out for good, and it is known whether the other one works. */
bool duel_forfeited(const struct duel *duel);
/* What follows from the pairs so far. True: more would change nothing, or there is no time for them. */
bool duel_decide(struct duel *duel, struct duel_result *result);
/* Blocks on several nodes, until the duel is over. */
int duel_blocks_measure(struct duel *duel, struct duel_result *result, struct err *err);

#endif
