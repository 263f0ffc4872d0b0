/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A race on several nodes. Blocks are numbered in the order in which they come back, and each decision uses only the
 * blocks received so far. A race whose blocks come back in the same order therefore decides the same. */
#include <config.h>

#include <math.h>

#include "tuner/race/impl.h"

/* Near the end one block ahead would do, but a second one costs nothing if its node would only wait. Where other work
 * could use the node, the race leaves it. */
static size_t least_ahead(const struct race *race) {
	const struct block_runner *blocks = race->options->blocks;

	return blocks->other != NULL && blocks->other(blocks->ctx) ? 1 : 2;
}

/* Blocks are started ahead of the decision, by half of those done so far: more of them would only measure entrants that
 * have dropped out by the time the blocks come back. */
static bool may_begin(const struct race *race) {
	const struct race_options *options = race->options;
	size_t flying = race->blocks.count, done = (size_t)race->context.block, least = (size_t)race_least(race);
	size_t wanted = done < least ? least - done : done / 2, ahead = wanted > 2 ? wanted : least_ahead(race);

	return flying < ahead && done + flying < (size_t)options->blocks_max && race_alive(race) > 0 &&
	       !race_clock_late(&options->clock, blocks_seconds(&race->blocks));
}

static struct block *block_make(struct race *race) {
	struct block *block = block_new(race_alive(race));
	size_t running = race_plan(race, race->order);

	for (size_t i = 0; i < running; i++) {
		block->order[i] = (int)race->order[i];
		block->requests[i] = race_entrant_request(&race->field[race->order[i]], race->context.request);
		race_clock_limit(&race->options->clock, &block->requests[i]);
	}
	return block;
}

static int begin_some(struct race *race, struct err *err) {
	struct blocks *blocks = &race->blocks;
	int rc = 1;

	while (rc == 1 && may_begin(race) && blocks->runner->room(blocks->runner->ctx) > 0)
		rc = blocks_begin(blocks, block_make(race), err);
	return rc < 0 ? -1 : 0;
}

static double *row_begin(struct race *race) {
	double *times = race->times + (size_t)race->context.block * race->count;

	for (size_t e = 0; e < race->count; e++)
		times[e] = NAN;
	return times;
}

/* Results that no longer count are stored all the same, because no measurement is thrown away. */
static int block_show(struct race *race, struct block *block, size_t from, struct err *err) {
	int rc = 0;

	for (size_t i = from; i < block->done; i++)
		if (race_context_report(&race->context, block->requests[i].config, &block->results[i], err) != 0)
			rc = -1;
	return rc;
}

/* A trial that was lost with its node is left out. The others of its block still count, because they ran side by side.
 */
static int block_record(struct race *race, struct block *block, struct err *err) {
	double *times = row_begin(race);

	for (size_t i = 0; i < block->done; i++) {
		size_t e = (size_t)block->order[i];
		bool alive = race->entries[e].alive;
		double seconds;

		if (race_entrant_cut(&race->field[e], &race->context, &block->results[i]))
			continue;
		if (race_entrant_record(&race->field[e], &race->context, alive, &block->requests[i], &block->results[i],
		                        &seconds, err) != 0) {
			block_show(race, block, i + 1, &(struct err){0});
			return -1;
		}
		times[e] = alive ? seconds : NAN;
		race->entries[e].alive = alive && !race->field[e].lost;
	}
	if (block->lost && block->done < block->count) {
		size_t e = (size_t)block->order[block->done];

		race_entrant_gone(&race->field[e], block->outside);
		race->entries[e].alive = race->entries[e].alive && !race->field[e].lost;
	}
	race->context.block += block->done > 0;
	return 0;
}

/* The block came back after the decision: its results are stored and do not count. */
static int block_late(struct race *race, struct block *block, struct err *err) {
	int rc = block_show(race, block, 0, err);

	row_begin(race);
	race->context.block++;
	return rc;
}

/* Collects the blocks that nodes are still working on after an error or an interruption, so that their results are
 * stored. */
static void finish(struct race *race) {
	struct blocks *blocks = &race->blocks;
	struct err ignored = {0};
	struct block *block;

	while (blocks->count > 0 && blocks_next(blocks, &block, &ignored) == 0) {
		if (block != NULL)
			block_late(race, block, &ignored);
		block_free(block);
	}
}

static int blocks_run(struct race *race, struct err *err) {
	struct blocks *blocks = &race->blocks;
	bool over = false;
	int rc = 0;

	while (rc == 0 && (blocks->count > 0 || (!over && may_begin(race)))) {
		struct block *block = NULL;

		rc = over ? 0 : begin_some(race, err);
		if (rc == 0)
			rc = blocks_next(blocks, &block, err);
		if (block == NULL)
			continue;
		rc = over ? block_late(race, block, err) : block_record(race, block, err);
		over = over || (rc == 0 && race_decide(race));
		block_free(block);
	}
	return rc;
}

int race_blocks_measure(struct race *race, struct err *err) {
	race->blocks.runner = race->options->blocks;
	int rc = blocks_run(race, err);

	finish(race);
	blocks_clear(&race->blocks);
	return rc;
}
