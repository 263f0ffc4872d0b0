/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/race/block.h"

#include <stdlib.h>

#include "base/mem.h"

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

int blocks_next(struct blocks *blocks, struct block **block, struct err *err) {
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
