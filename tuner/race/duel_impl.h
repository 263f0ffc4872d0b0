/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a duel while it runs. */
#ifndef TUNER_RACE_DUEL_IMPL_H
#define TUNER_RACE_DUEL_IMPL_H
#include "tuner/race/entrant_impl.h"

enum duel_trial { SIDE_A, SIDE_B, CONTROL, OTHERS };

struct duel_arm {
	struct race_entrant entrant; /* not of the control, whose trials are those of a */
	double *seconds;             /* in each row; NAN: not measured */
	double current;              /* in the block under way */
	int look;                    /* number of pairs with a at which it is looked at next */
	bool over;                   /* nothing more is to be known of it */
};

struct duel {
	const struct duel_options *options;
	struct duel_result *result;
	struct race_context context;
	struct duel_arm *arms;
	size_t arm_count;
	struct rng rng;
	double *x, *y;            /* scratch: the rows that two arms share */
	int rows, room;           /* blocks that measured a */
	int judged, judged_block; /* rows that count for certain, and the number of blocks by then */
	int failures;             /* blocks that lost a trial */
	int trials;               /* so far */
	size_t planned;           /* blocks */
	bool a_first;             /* in the latest of them */
	double start;
	struct blocks blocks; /* on several nodes */
	bool looked;          /* once at least */
	bool promising;       /* at the last look (look.h) */
	bool over;            /* the last look was taken, whatever the others still need */
};

/* The number of rows that measured this arm beside a, whose times are then in x and y. */
int duel_pairs(const struct duel *duel, size_t arm);
/* Sets what the samples say, and takes the pairs. */
void duel_report(struct duel *duel, struct duel_result *result);
#endif
