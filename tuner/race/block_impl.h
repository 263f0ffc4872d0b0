/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of a race or a duel that are measured on several nodes at once. All trials of one block run on the same node,
 * one after the other, because only times of one node are comparable. */
#ifndef TUNER_RACE_BLOCK_IMPL_H
#define TUNER_RACE_BLOCK_IMPL_H
#include "tuner/trial/trial.h"

struct block {
	struct trial_request *requests;
	int *order; /* the entrant of each trial */
	size_t count;
	/* Set once the block has ended: the first `done` results in the order of the requests, rescaled so that nodes of
	 * different speed compare. */
	struct trial_result *results;
	size_t done;
	bool lost;    /* the node or its worker was lost during trial number `done` */
	bool outside; /* and that trial did not cause the loss */
	void *tag;    /* for the runner's own use */
	double begun; /* on the nodes' clock */
};

struct block_runner {
	void *ctx;
	size_t (*room)(void *ctx); /* how many blocks could start now */
	/* Returns 1 if the block was started (it must then stay valid until it has ended), 0 if no node was free after all,
	 * -1 on error. */
	int (*begin)(void *ctx, struct block *block, struct err *err);
	/* Waits. Sets *block to a block that has ended, or to NULL if only the room has changed. Returns -1 if it was
	 * interrupted or no node is left, and the blocks on their way are then abandoned; or, with *block set, if its
	 * results could not be stored. */
	int (*next)(void *ctx, struct block **block, struct err *err);
	double (*now)(void *ctx); /* seconds on the nodes' clock */
	bool (*other)(void *ctx); /* does other work wait that would use an idle node? NULL: never */
};

/* Blocks that were started and have not ended. */
struct blocks {
	const struct block_runner *runner;
	struct block **flying;
	size_t count;
	double spent_s; /* by those that have ended */
	size_t ended;
};
struct block *block_new(size_t count);
void block_free(struct block *block);
/* Starts a block and takes ownership of it; a block that could not be started is freed. Returns 1, 0 or -1 like
 * block_runner.begin. */
int blocks_begin(struct blocks *blocks, struct block *block, struct err *err);
double blocks_seconds(const struct blocks *blocks); /* of one, on average so far; 0: none has ended */
void blocks_clear(struct blocks *blocks);
#endif
