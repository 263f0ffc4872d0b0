/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "tuner/race/entrant_impl.h"

struct block *block_new(size_t count) {
	struct block *block = mem_alloc(1, sizeof *block);
	block->count = count;
	block->requests = mem_alloc(count, sizeof *block->requests);
	block->order = mem_alloc(count, sizeof *block->order);
	block->results = mem_alloc(count, sizeof *block->results);
	return block;
}

void block_free(struct block *block) {
	if (!block)
		return;
	for (size_t i = 0; i < block->count; i++)
		trial_result_clear(&block->results[i]);
	free(block->requests);
	free(block->order);
	free(block->results);
	free(block);
}

int blocks_begin(struct blocks *blocks, struct block *block, struct err *err) {
	block->begun = blocks->runner->now(blocks->runner->ctx);
	int rc = blocks->runner->begin(blocks->runner->ctx, block, err);
	if (rc != 1) {
		block_free(block);
		return rc;
	}
	blocks->flying = mem_grow(blocks->flying, blocks->count + 1, sizeof(struct block *));
	blocks->flying[blocks->count++] = block;
	return 1;
}

/* Waits for the next block that ends and hands its ownership back; *block is NULL if only the room has changed. */
static int blocks_next(struct blocks *blocks, struct block **block, struct err *err) {
	*block = NULL;
	int rc = blocks->runner->next(blocks->runner->ctx, block, err);
	for (size_t i = 0; *block && i < blocks->count; i++) {
		if (blocks->flying[i] != *block)
			continue;
		blocks->flying[i] = blocks->flying[--blocks->count];
		blocks->spent_s += blocks->runner->now(blocks->runner->ctx) - (*block)->begun;
		blocks->ended++;
		break;
	}
	if (rc) {
		block_free(*block);
		*block = NULL;
	}
	return rc;
}

double blocks_seconds(const struct blocks *blocks) {
	return blocks->ended ? blocks->spent_s / (double)blocks->ended : 0;
}

void blocks_clear(struct blocks *blocks) {
	while (blocks->count)
		block_free(blocks->flying[--blocks->count]);
	free(blocks->flying);
	blocks->flying = NULL;
}

static struct block *block_make(const struct race_blocks *plan) {
	struct block *block = block_new(plan->trials_max);
	block->count = plan->plan(plan->ctx, block->order);
	for (size_t i = 0; i < block->count; i++) {
		block->requests[i] = race_entrant_request(plan->entrant(plan->ctx, block->order[i]), plan->context->request);
		race_clock_limit(plan->context->clock, &block->requests[i]);
	}
	return block;
}

static int begin_some(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	int rc = 1;
	while (rc == 1 && plan->may_begin(plan->ctx) && blocks->runner->room(blocks->runner->ctx) > 0)
		rc = blocks_begin(blocks, block_make(plan), err);
	return rc < 0 ? -1 : 0;
}

/* Results that no longer count are stored all the same, because no measurement is thrown away. */
static int block_show(const struct race_blocks *plan, struct block *block, size_t from, struct err *err) {
	int rc = 0;
	for (size_t i = from; i < block->done; i++)
		if (race_context_report(plan->context, plan->entrant(plan->ctx, block->order[i]), &block->results[i], err))
			rc = -1;
	return rc;
}

/* The block came back after the decision: its results are stored and do not count. */
static int block_late(const struct race_blocks *plan, struct block *block, struct err *err) {
	int rc = block_show(plan, block, 0, err);
	plan->begin(plan->ctx);
	plan->context->block++;
	return rc;
}

static int block_record(const struct race_blocks *plan, struct block *block, struct err *err) {
	plan->begin(plan->ctx);
	for (size_t i = 0; i < block->done; i++) {
		int trial = block->order[i];
		struct race_entrant *entrant = plan->entrant(plan->ctx, trial);
		double seconds;
		if (race_entrant_cut(entrant, plan->context, &block->results[i]))
			continue;
		if (race_entrant_record(entrant, plan->context, plan->keeps(plan->ctx, trial), &block->requests[i],
		                        &block->results[i], &seconds, err)) {
			block_show(plan, block, i + 1, &(struct err){0});
			return -1;
		}
		plan->note(plan->ctx, trial, seconds);
	}
	if (block->lost && block->done < block->count) {
		race_entrant_gone(plan->entrant(plan->ctx, block->order[block->done]), block->outside);
		plan->note(plan->ctx, block->order[block->done], NAN);
	}
	plan->end(plan->ctx, block->count, block->done, block->lost);
	return 0;
}

/* Collects the blocks that nodes are still working on after an error or an interruption, so that their results are
 * stored. */
static void finish(struct blocks *blocks, const struct race_blocks *plan) {
	struct err ignored = {0};
	struct block *block;
	while (blocks->count > 0 && blocks_next(blocks, &block, &ignored) == 0) {
		if (block)
			block_late(plan, block, &ignored);
		block_free(block);
	}
}

static int nodes_run(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	bool over = false;
	int rc = 0;
	while (rc == 0 && (blocks->count > 0 || (!over && plan->may_begin(plan->ctx)))) {
		struct block *block = NULL;
		rc = over ? 0 : begin_some(blocks, plan, err);
		if (rc == 0)
			rc = blocks_next(blocks, &block, err);
		if (!block)
			continue;
		rc = over ? block_late(plan, block, err) : block_record(plan, block, err);
		over = over || (rc == 0 && plan->decide(plan->ctx));
		block_free(block);
	}
	return rc;
}

/* Here each trial is recorded as it ends, so that an interruption loses only one. */
static int block_measure(const struct race_blocks *plan, int *order, struct err *err) {
	size_t count = plan->plan(plan->ctx, order);
	plan->begin(plan->ctx);
	for (size_t i = 0; i < count; i++) {
		double seconds;
		if (race_entrant_measure(plan->entrant(plan->ctx, order[i]), plan->context, plan->keeps(plan->ctx, order[i]),
		                         &seconds, err))
			return -1;
		plan->note(plan->ctx, order[i], seconds);
	}
	plan->end(plan->ctx, count, count, false);
	return 0;
}

static int here_run(const struct race_blocks *plan, struct err *err) {
	int *order = mem_alloc(plan->trials_max, sizeof *order), rc = 0;
	bool over = false;
	while (rc == 0 && !over && plan->may_begin(plan->ctx)) {
		rc = block_measure(plan, order, err);
		over = rc == 0 && plan->decide(plan->ctx);
	}
	free(order);
	return rc;
}

int race_blocks_run(struct blocks *blocks, const struct race_blocks *plan, struct err *err) {
	if (!blocks->runner)
		return here_run(plan, err);
	int rc = nodes_run(blocks, plan, err);
	finish(blocks, plan);
	blocks_clear(blocks);
	return rc;
}
