/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by race.c and blocks.c only. */
#ifndef TUNER_RACE_IMPL_H
#define TUNER_RACE_IMPL_H
#include "tuner/race/entrant.h"

struct race {
	const struct race_options *options;
	struct race_context context;
	struct race_entry *entries;
	size_t count;
	struct race_entrant *field; /* one per entry */
	double *times;              /* seconds of entry e in block k: [k * count + e]; NAN: none */
	size_t *order;
	double *x, *y;             /* scratch: the blocks that two entries share */
	int dropped, judged_block; /* blocks that do not count; number of blocks when that was last asked */
	struct rng rng;
	double start;
	struct blocks blocks; /* on several nodes */
	double level;         /* of two-sided intervals, so that each of their bounds holds at the requested level */
	size_t best;
	struct paired *against; /* each entry against the best */
	double *p, *adjusted;
	bool led; /* there is a best */
};

/* Writes the surviving entries to `order`, shuffled, and returns their number. */
size_t race_plan(struct race *race, size_t *order);
/* Eliminates entries by what the blocks so far show. True if the race is decided or out of time. */
bool race_decide(struct race *race);
int race_least(const struct race *race); /* blocks before the first decision */
size_t race_alive(const struct race *race);
/* Runs the blocks of the race on several nodes until it is over. */
int race_blocks_measure(struct race *race, struct err *err);

#endif
