/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of a race or a duel that are measured on several nodes at once: all trials of a block on one node, one after
 * the other, as only what one node measures is compared. */
#ifndef TUNER_RACE_BLOCK_H
#define TUNER_RACE_BLOCK_H
#include "tuner/trial/trial.h"

struct block {
	struct trial_request *requests;
	int *order; /* whose trials they are */
	size_t count;
	/* When it has ended: `done` results, in their order, of nodes of different speed on one scale. */
	struct trial_result *results;
	size_t done;
	bool lost;    /* its node or worker went away at trial `done` */
	bool outside; /* which had no part in that */
	void *tag;    /* the runner's */
};

struct block_runner {
	void *ctx;
	size_t (*room)(void *ctx); /* blocks that can begin now */
	/* 1: begun; the block stays where it is until it has ended. 0: there was no node for it after all. -1: over. */
	int (*begin)(void *ctx, struct block *block, struct err *err);
	/* Waits. *block: one that has ended, or NULL where only the room has changed. -1: interrupted, or no node is left,
	 * and the blocks that were begun are not looked at any more; or, with *block, what belongs to it can't be kept. */
	int (*next)(void *ctx, struct block **block, struct err *err);
	double (*now)(void *ctx); /* seconds, as nodes have them */
	bool (*other)(void *ctx); /* is there other work that a node without a block would do meanwhile? NULL: no */
};

/* The blocks on their way. */
struct blocks {
	const struct block_runner *runner;
	struct block **flying;
	size_t count;
};
struct block *block_new(size_t count);
void block_free(struct block *block);
/* 1, 0, -1 as begin; the block belongs to `blocks` from now on, and is freed where it was not begun. */
int blocks_begin(struct blocks *blocks, struct block *block, struct err *err);
/* The next that ended, the caller's again; NULL where only the room has changed. */
int blocks_next(struct blocks *blocks, struct block **block, struct err *err);
void blocks_clear(struct blocks *blocks);

#endif
