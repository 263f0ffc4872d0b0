/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How many pairs and blocks comparisons take, and which shares of a budget are kept for them. look.c has the schedule
 * between the first look and the last one (doc/measurement.md, rules 4 and 5; ADR 14). */
#ifndef TUNER_RACE_NUMBERS_H
#define TUNER_RACE_NUMBERS_H

/* Pairs of a duel. */
enum {
	RACE_PAIRS_LEAST = 3, /* with a deviation of fewer, Student's interval is too wide to prove anything */
	RACE_PAIRS_SHORT = 5, /* the first look at runs that are short: they vary more, and two more pairs cost little */
	RACE_PAIRS_MIN = 21,  /* the first look at the rank interval, which is wide with fewer */
	RACE_PAIRS_MAX = 101, /* a duel that these leave undecided ends as a tie */
	/* Whether the winner of one size wins at another only chooses what a profile applies there. */
	RACE_PAIRS_OF_SIZES_MIN = 7,
	RACE_PAIRS_OF_SIZES_MAX = 15,
	/* A change of a winner that so many blocks do not show to pay is dropped. With fewer than the least, the ranks of a
	 * dozen changes cannot reach the level that they share. */
	RACE_PAIRS_OF_CHANGE_MIN = 13,
	RACE_PAIRS_OF_CHANGE_MAX = 34,
	RACE_PAIRS_OF_CHANGE_VAIN = 8, /* the first look that may find more blocks to be in vain */
	RACE_PAIRS_PATIENCE = 4, /* an undecided comparison may go on for so many times the pairs that it has at most */
	RACE_PAIRS_OF_RATIO = 5, /* the ratio of fewer, as of separate trials, is too noisy to replace the best of a size */
	/* Before the pairs tell, the noise of the search counts like so many of them. With the few of an early end alone,
	 * the number that is missing would be anything from 3 to thousands. */
	RACE_PAIRS_OF_NOISE = 8,
};

/* Blocks of a race, which has all of its entries in each of them. */
enum {
	RACE_BLOCKS_EARLY = 3, /* before the first look, where the noise is small */
	RACE_BLOCKS_MIN = 5,   /* before entries drop out by ranks */
	RACE_BLOCKS_MAX = 61,  /* what these do not tell apart is left to costs */
	RACE_BLOCKS_USUAL = 4, /* that early looks leave: for the time that is shown */
	RACE_BLOCKS_KEPT = 6,  /* that a search leaves time for, so that a close race does not take the duel's */
};

/* Blocks of a region's calls in one run that explores settings: all settings meet in each of them. */
enum {
	RACE_BLOCKS_OF_REGION_LEAST = 4,   /* a run that is too short for them explores nothing */
	RACE_BLOCKS_OF_REGION_WANTED = 8,  /* further runs are made until there are so many */
	RACE_BLOCKS_OF_REGION_SPREAD = 24, /* over a long run, whose parts differ */
};

/* The level of a duel that comes after one which did not prove a larger set of changes: each try may err. */
static const double RACE_LEVEL_AGAIN = 0.98;

/* The finals may take at most this share of a budget when their cost is estimated in advance. */
static const double RACE_SHARE_MAX = 0.6;
/* A resumed search gets this share of the budget for its proof, however much was used before the interruption. */
static const double RACE_SHARE_RESUMED = 0.6;
/* The race gets this share of the time that is left for the finals, and this share of the time before it where no
 * budget limits it: it only chooses among settings that are about equally fast, and the duel judges its choice. */
static const double RACE_SHARE = 0.25;
/* Telling which changes of a winner pay gets at most this share of a budget when its cost is estimated in advance. */
static const double RACE_SHARE_CHANGES = 0.4;
/* Long runs are compared in RACE_PAIRS_SHORT pairs if these take less than this share of the budget. */
static const double RACE_SHARE_SHORT = 0.02;
/* The shares that waiting for a quiet machine and repeating disturbed blocks get: of the budget, and of the time before
 * the finals, because short searches are not worth it. */
static const double RACE_SHARE_QUIET = 0.1, RACE_SHARE_QUIET_SPENT = 0.25;
/* The shares that checking the results of a winner gets: of the budget, and where none limits it, of the time before.
 */
static const double RACE_SHARE_CHECK = 0.1, RACE_SHARE_CHECK_SPENT = 0.25;
#endif
