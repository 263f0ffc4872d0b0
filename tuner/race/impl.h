/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by race.c and race_blocks.c only. */
#ifndef TUNER_RACE_IMPL_H
#define TUNER_RACE_IMPL_H
#include "tuner/race/entrant.h"

struct race {
	const struct race_options *options;
	struct race_context context;
	struct race_entry *entries;
	size_t count;
	struct race_entrant *field; /* one an entry */
	double *times;              /* of entry e in block k: [k * count + e], NAN where there is none */
	size_t *order;
	double *x, *y; /* the blocks that two entries share */
	struct rng rng;
	double start;
	double level; /* of two-sided intervals whose bounds hold at the asked level, each for itself */
	size_t best;
	struct paired *against; /* each entry against the best */
	double *p, *adjusted;
	bool led; /* there is a best */
};

/* The order of the next block: entries that are left, at random. */
size_t race_plan(struct race *race, size_t *order);
/* What follows from the blocks so far. True: the race is decided, or it is late. */
bool race_decide(struct race *race);
size_t race_alive(const struct race *race);
/* Blocks on several nodes, until the race is over. */
int race_blocks_measure(struct race *race, struct err *err);

#endif
