/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_RACE_RACE_IMPL_H
#define TUNER_RACE_RACE_IMPL_H
#include "base/mem.h"
#include "tuner/race/race.h"

/* One configuration that takes part in a duel or a race, with its samples and failures. Whatever a runner reports is
 * checked here. */
struct race_entrant {
	const json_t *config;
	const char *phase; /* for the observer; NULL: that of the comparison */
	double *samples;   /* seconds of the trials that worked */
	size_t count, room;
	size_t judged; /* samples of blocks that count for certain; race_entrant_judge */
	double bound;  /* seconds after which a trial ends and counts as this long; 0: none */
	int bounded;   /* trials that did */
	int trials, failures, failures_in_a_row;
	enum trial_status failed; /* the last failure, TRIAL_CORRECT: none */
	bool lost;                /* failed for good */
	bool cut;                 /* a trial of it was ended with the time of the comparison */
	int gone, away;           /* consecutive losses: its worker was killed, perhaps by itself / its node was lost */
};

/* The state that all trials of one comparison share. */
struct race_context {
	struct runner *runner;
	const struct trial_request *request;
	const struct race_observer *observer; /* may be NULL */
	const char *phase;
	int block;
	const struct race_clock *clock; /* NULL: without an end */
};

double race_clock_now(const struct race_clock *clock);
/* Would a block that takes `each` seconds end too late? */
bool race_clock_late(const struct race_clock *clock, double each);
/* Is there time for `more` blocks and a wait of the same length? */
bool race_clock_spares(const struct race_clock *clock, double start, int blocks, int more);

void race_entrant_clear(struct race_entrant *entrant);
static inline void race_entrant_keep(struct race_entrant *entrant, double seconds) {
	entrant->samples = mem_room(entrant->samples, entrant->count, &entrant->room, sizeof *entrant->samples);
	entrant->samples[entrant->count++] = seconds;
}
/* All samples so far count (keep), or those since the last call are dropped. */
void race_entrant_judge(struct race_entrant *entrant, bool keep);

/* How a comparison measures in blocks, here or on several nodes (block.c). */
struct race_blocks {
	void *ctx;
	struct race_context *context;
	/* May another block begin, beside those on their way? */
	bool (*may_begin)(const void *ctx);
	/* Writes the trials of the next block in a random order to an array of trials_max; returns their number. */
	size_t (*plan)(void *ctx, int *order);
	size_t trials_max;
	struct race_entrant *(*entrant)(void *ctx, int trial);
	bool (*keeps)(const void *ctx, int trial);          /* does its time join the samples of the entrant? */
	void (*begin)(void *ctx);                           /* the trials of one block follow */
	void (*note)(void *ctx, int trial, double seconds); /* NAN: it failed */
	/* Numbers the block that has ended. done: of its `count` trials; lost: together with its node. */
	void (*end)(void *ctx, size_t count, size_t done, bool lost);
	bool (*decide)(void *ctx); /* true: no more blocks are needed */
};
/* Measures blocks until the comparison is over. `blocks` counts those on several nodes; without a runner there are
 * none.
 */
int race_blocks_run(struct blocks *blocks, const struct race_blocks *plan, struct err *err);

/* The state of a duel while it runs. */
enum duel_trial { SIDE_A, SIDE_B, CONTROL, OTHERS };

struct duel_arm {
	struct race_entrant entrant; /* not of the control, whose trials are those of a */
	double *seconds;             /* in each row; NAN: not measured, negative: it was ended after so long */
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
	int recalled;             /* of these, in earlier duels */
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

/* rows.c */

/* The number of rows that measured this arm beside a, whose times are then in x and y; what was ended took so many
 * times as long. */
int duel_pairs_of(const struct duel *duel, size_t arm, double ended);
static inline int duel_pairs(const struct duel *duel, size_t arm) {
	return duel_pairs_of(duel, arm, 1);
}
/* Adds the block that has ended. */
static inline void duel_row_add(struct duel *duel) {
	if (duel->rows == duel->room) {
		duel->room = duel->room ? 2 * duel->room : 64;
		for (size_t arm = 0; arm < duel->arm_count; arm++)
			duel->arms[arm].seconds =
				mem_grow(duel->arms[arm].seconds, (size_t)duel->room, sizeof *duel->arms[arm].seconds);
		duel->x = mem_grow(duel->x, (size_t)duel->room, sizeof *duel->x);
		duel->y = mem_grow(duel->y, (size_t)duel->room, sizeof *duel->y);
	}
	for (size_t arm = 0; arm < duel->arm_count; arm++)
		duel->arms[arm].seconds[duel->rows] = duel->arms[arm].current;
	duel->rows++;
}
void duel_log_recall(struct duel *duel); /* the blocks of the log in which a was measured are the first rows */
void duel_log_add(const struct duel *duel);
static inline bool paired_leans(const struct paired *paired, enum paired_verdict to) {
	return duel_leans(paired->ratio, paired->ci, to);
}
#endif
