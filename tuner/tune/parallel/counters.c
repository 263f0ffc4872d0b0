/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting on several nodes. It begins while the race and the duel still run, on nodes that they have no work for,
 * because their outcome only changes the order of counting. */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/tune/counting.h"

struct counting {
	struct tune *tune;
	json_t *early; /* configurations that can begin now, in this order */
	json_t *begun; /* block->order[0] is the index of its configuration */
	struct blocks blocks;
	double last;
};

static struct counting *counting_of(struct tune *tune) {
	if (tune->counting.nodes)
		return tune->counting.nodes;
	struct counting *counting = mem_alloc(1, sizeof *counting);
	*counting = (struct counting){
		.tune = tune, .early = json_array(), .begun = json_array(), .blocks = {.runner = &tune->bench.blocks}};
	return tune->counting.nodes = counting;
}

void tune_counting_free(struct counting *counting) {
	if (!counting)
		return;
	blocks_clear(&counting->blocks);
	json_decref(counting->early);
	json_decref(counting->begun);
	free(counting);
}

static bool is_begun(const struct counting *counting, const json_t *config) {
	size_t i;
	json_t *begun;
	json_array_foreach(counting->begun, i, begun) {
		if (json_equal(begun, config))
			return true;
	}
	return false;
}

/* Returns 1 if counting has begun, 0 if no node is free. */
static int begin(struct counting *counting, json_t *config, struct err *err) {
	struct block *block = block_new(1);
	block->requests[0] = counting_request(counting->tune, config);
	block->order[0] = (int)json_array_size(counting->begun);
	int rc = blocks_begin(&counting->blocks, block, err);
	if (rc == 1)
		json_array_append(counting->begun, config);
	return rc;
}

static bool has_room(const struct counting *counting) {
	return counting->blocks.runner->room(counting->blocks.runner->ctx) > 0;
}

/* Early counting delays nobody. Slow counters are excluded, because they would keep their node from the next phase. */
void tune_counting_early(struct tune *tune, const struct race_entry *entries, size_t count) {
	if (!tune->bench.fleet || !counting_asked(tune) || tune->task->counters.slow)
		return;
	struct counting *counting = counting_of(tune);
	if (tune->memory.baseline.status == TRIAL_CORRECT)
		json_array_append(counting->early, (json_t *)tune->task->baseline);
	for (size_t i = 0; i < count; i++)
		json_array_append(counting->early, (json_t *)entries[i].config);
}

static json_t *early_next(const struct counting *counting) {
	const struct tune *tune = counting->tune;
	size_t i;
	json_t *config;
	if (tune_interrupted(tune))
		return NULL;
	json_array_foreach(counting->early, i, config) {
		if (!is_begun(counting, config))
			return counting_affordable(tune, i, 0, counting->last, counting_allowance(tune)) ? config : NULL;
	}
	return NULL;
}

bool tune_counting_waits(const struct tune *tune) {
	return tune->counting.nodes && early_next(tune->counting.nodes);
}

int tune_counting_fill(struct tune *tune, struct err *err) {
	json_t *config;
	int rc = 1;
	while (rc == 1 && tune->counting.nodes && has_room(tune->counting.nodes) &&
	       (config = early_next(tune->counting.nodes)))
		rc = begin(tune->counting.nodes, config, err);
	return rc < 0 ? -1 : 0;
}

static int counted_record(struct counting *counting, const struct block *block, struct err *err) {
	struct tune *tune = counting->tune;
	json_t *config = json_array_get(counting->begun, (size_t)block->order[0]);
	if (block->done == 0) {
		counting_failed(tune, config, "its node went away");
		return 0;
	}
	counting->last = block->results[0].elapsed_s;
	if (json_array_size(counting->early)) /* the time of the phase itself is added when it ends */
		tune->counting.seconds += counting->last;
	else
		tune_report(tune, TUNE_COUNTERS);
	return counting_keep(tune, config, &block->results[0], err);
}

bool tune_counting_record(struct tune *tune, struct block *block, int *rc, struct err *err) {
	struct blocks *blocks = tune->counting.nodes ? &tune->counting.nodes->blocks : NULL;
	for (size_t i = 0; blocks && i < blocks->count; i++) {
		if (blocks->flying[i] != block)
			continue;
		blocks->flying[i] = blocks->flying[--blocks->count];
		*rc = counted_record(tune->counting.nodes, block, err);
		block_free(block);
		return true;
	}
	return false;
}

/* Waits; counting blocks are recorded as they end. */
static int next(struct counting *counting, struct err *err) {
	const struct block_runner *runner = counting->blocks.runner;
	struct block *none;
	return runner->next(runner->ctx, &none, err);
}

void tune_counting_end(struct tune *tune) {
	struct err ignored = {0};
	if (!tune->counting.nodes)
		return;
	json_array_clear(tune->counting.nodes->early);
	while (tune->counting.nodes->blocks.count && next(tune->counting.nodes, &ignored) == 0)
		continue;
}

struct walk {
	const json_t *queue;
	size_t at;
	double allowed, begun;
};

static int begin_some(struct counting *counting, struct walk *walk, struct err *err) {
	struct tune *tune = counting->tune;
	int rc = 1;
	while (rc == 1 && walk->at < json_array_size(walk->queue)) {
		json_t *config = json_array_get(walk->queue, walk->at);
		double used = tune_now(tune) - walk->begun;
		if (is_begun(counting, config))
			walk->at++;
		else if (!has_room(counting))
			rc = 0;
		else if (!counting_affordable(tune, walk->at, used, counting->last, walk->allowed))
			counting_failed(tune, json_array_get(walk->queue, walk->at++), "not counted: the time was used up");
		else if ((rc = begin(counting, config, err)) == 1)
			walk->at++;
	}
	return rc < 0 ? -1 : 0;
}

int counting_on_nodes(struct tune *tune, const json_t *queue, double allowed, struct err *err) {
	struct counting *counting = counting_of(tune);
	struct walk walk = {.queue = queue, .allowed = allowed, .begun = tune_now(tune)};
	size_t size = json_array_size(queue);
	int rc = 0;
	json_array_clear(counting->early);
	while (rc == 0 && (walk.at < size || counting->blocks.count)) {
		rc = begin_some(counting, &walk, err);
		if (rc == 0 && (walk.at < size || counting->blocks.count))
			rc = next(counting, err);
	}
	tune_counting_end(tune);
	for (; walk.at < size; walk.at++)
		if (!is_begun(counting, json_array_get(queue, walk.at)))
			counting_failed(tune, json_array_get(queue, walk.at),
			                err->code == ERR_INTERRUPTED ? "interrupted" : err->what);
	return rc;
}
