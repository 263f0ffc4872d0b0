/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phases after the search: each block runs as a whole on one node. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "tuner/tune/parallel/parallel.h"

/* Prefers an idle node whose speed is known; any other one has to measure the baseline before the block. */
static size_t node_take(struct fleet *fleet) {
	size_t count = fleet_idle_count(fleet), *others = mem_alloc(count + 1, sizeof *others), other = 0, found = SIZE_MAX;
	for (size_t node; found == SIZE_MAX && (node = fleet_idle_take(fleet)) != SIZE_MAX;)
		if (fleet_usable(fleet, node))
			found = node;
		else
			others[other++] = node;
	if (found == SIZE_MAX && other)
		found = others[--other];
	while (other)
		fleet_idle_put(fleet, others[--other]);
	free(others);
	return found;
}

static size_t room(void *ctx) {
	const struct tune *tune = ctx;
	return fleet_idle_count(tune->bench.fleet);
}

static double now(void *ctx) {
	return tune_now(ctx);
}

static int begin(void *ctx, struct block *block, struct err *err) {
	struct tune *tune = ctx;
	if (tune_interrupted(tune))
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	size_t node = node_take(tune->bench.fleet);
	if (node == SIZE_MAX)
		return 0;
	struct pool_job *job = lead_job_new(tune, node, block);
	block->tag = job;
	int rc = fleet_submit(tune->bench.fleet, node, job, err);
	if (rc != 1)
		free(job);
	return rc;
}

static void result_scale(const struct tune *tune, size_t node, struct trial_result *result) {
	const struct parallel view = {.tune = (struct tune *)tune, .fleet = tune->bench.fleet};
	work_scale(&view, node, result);
}

/* Moves the results of a job to its block, except those of the `lead` trials before it. */
static void block_fill(const struct tune *tune, struct block *block, struct pool_done *done, size_t lead) {
	block->done = done->done - lead;
	block->lost = done->lost != NULL;
	block->outside = done->outside || done->job->count > lead + block->count; /* the block had not begun */
	for (size_t i = 0; i < block->done; i++) {
		block->results[i] = done->results[lead + i];
		memset(&done->results[lead + i], 0, sizeof done->results[lead + i]);
		result_scale(tune, done->node, &block->results[i]);
	}
	fleet_trials_add(tune->bench.fleet, done->node, done->done);
}

static int next(void *ctx, struct block **ended, struct err *err) {
	struct tune *tune = ctx;
	struct pool_done done = {0};
	*ended = NULL;
	if (tune_counting_fill(tune, err))
		return -1;
	int rc = fleet_wait(tune->bench.fleet, tune_wait_seconds(tune), &done, err);
	if (rc != 1)
		return rc;
	struct block *block = done.job->tag;
	struct pool_job *job = block->tag;
	ptrdiff_t lead = lead_record(tune, &done, err);
	if (lead >= 0)
		block_fill(tune, block, &done, (size_t)lead);
	pool_done_clear(&done);
	free(job);
	if (lead < 0)
		return -1;
	rc = 0;
	if (!tune_counting_record(tune, block, &rc, err))
		*ended = block;
	return rc;
}

static bool other(void *ctx) {
	return tune_counting_waits(ctx);
}

void tune_parallel_finals(struct tune *tune) {
	tune->bench.blocks =
		(struct block_runner){.ctx = tune, .room = room, .begin = begin, .next = next, .now = now, .other = other};
}
