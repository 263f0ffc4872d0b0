/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A duel on several nodes. Never more pairs are on their way than the next look needs. The looks, and with them the
 * error that the duel may make, are thus those of a duel on one node. */
#include <config.h>

#include <math.h>

#include "tuner/race/duel_impl.h"

static bool may_begin(const struct duel *duel) {
	return !duel_forfeited(duel) && (size_t)duel->count + duel->blocks.count < (size_t)duel->look && !duel_late(duel);
}

static struct block *block_make(struct duel *duel) {
	int order[TRIALS_MAX];
	size_t trials = duel_plan(duel, order);
	struct block *block = block_new(trials);

	for (size_t i = 0; i < trials; i++) {
		block->order[i] = order[i];
		block->requests[i] = race_entrant_request(duel_side(duel, order[i]), duel->context.request);
		race_clock_limit(&duel->options->clock, &block->requests[i]);
	}
	return block;
}

static int begin_some(struct duel *duel, struct err *err) {
	struct blocks *blocks = &duel->blocks;
	int rc = 1;

	while (rc == 1 && may_begin(duel) && blocks->runner->room(blocks->runner->ctx) > 0)
		rc = blocks_begin(blocks, block_make(duel), err);
	return rc < 0 ? -1 : 0;
}

/* Results that no longer count are stored all the same, because no measurement is thrown away. */
static int block_show(struct duel *duel, struct block *block, size_t from, struct err *err) {
	int rc = 0;

	for (size_t i = from; i < block->done; i++)
		if (race_context_report(&duel->context, block->requests[i].config, &block->results[i], err) != 0)
			rc = -1;
	return rc;
}

/* A pair that was lost with its node is evidence against neither side. */
static int block_record(struct duel *duel, struct block *block, struct err *err) {
	double seconds[TRIALS_MAX] = {NAN, NAN, NAN};

	for (size_t i = 0; i < block->done; i++) {
		int trial = block->order[i];

		if (race_entrant_cut(duel_side(duel, trial), &duel->context, &block->results[i]))
			continue;
		if (race_entrant_record(duel_side(duel, trial), &duel->context, trial != CONTROL, &block->requests[i],
		                        &block->results[i], &seconds[trial], err) != 0) {
			block_show(duel, block, i + 1, &(struct err){0});
			return -1;
		}
	}
	if (!block->lost) {
		duel_pair_add(duel, block->count, seconds);
		return 0;
	}
	if (block->done < block->count)
		race_entrant_gone(duel_side(duel, block->order[block->done]), block->outside);
	duel->context.block++;
	return 0;
}

/* The block came back after the decision: its results are stored and do not count. */
static int block_late(struct duel *duel, struct block *block, struct err *err) {
	int rc = block_show(duel, block, 0, err);

	duel->context.block++;
	return rc;
}

/* Collects the blocks that nodes are still working on after an error or an interruption, so that their results are
 * stored. */
static void finish(struct duel *duel) {
	struct blocks *blocks = &duel->blocks;
	struct err ignored = {0};
	struct block *block;

	while (blocks->count > 0 && blocks_next(blocks, &block, &ignored) == 0) {
		if (block != NULL)
			block_late(duel, block, &ignored);
		block_free(block);
	}
}

static int blocks_run(struct duel *duel, struct duel_result *result, struct err *err) {
	struct blocks *blocks = &duel->blocks;
	bool over = false;
	int rc = 0;

	while (rc == 0 && (blocks->count > 0 || (!over && may_begin(duel)))) {
		struct block *block = NULL;

		rc = over ? 0 : begin_some(duel, err);
		if (rc == 0)
			rc = blocks_next(blocks, &block, err);
		if (block == NULL)
			continue;
		rc = over ? block_late(duel, block, err) : block_record(duel, block, err);
		over = over || (rc == 0 && duel_decide(duel, result));
		block_free(block);
	}
	return rc;
}

int duel_blocks_measure(struct duel *duel, struct duel_result *result, struct err *err) {
	duel->blocks.runner = duel->options->blocks;
	int rc = blocks_run(duel, result, err);

	finish(duel);
	blocks_clear(&duel->blocks);
	return rc;
}
