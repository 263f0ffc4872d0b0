/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/descent.h"

#include <math.h>
#include <stdlib.h>

struct descent {
	const struct strategy_task *task;
	enum space_near kind;
	struct rng *rng;
	uint64_t at;
	double value;
	bool listed; /* the neighbours of `at` are in `near` */
	uint64_t *near;
	size_t count;
};

double outcome_log(const struct strategy_outcome *outcome) {
	return outcome && outcome->result == STRATEGY_VALUE ? log(outcome->value) : INFINITY;
}

struct descent *descent_new(const struct strategy_task *task, enum space_near kind, struct rng *rng) {
	struct descent *descent = arena_alloc(task->arena, 1, sizeof *descent);
	descent->task = task;
	descent->kind = kind;
	descent->rng = rng;
	descent->near = arena_alloc(task->arena, DESCENT_NEAR_MAX, sizeof *descent->near);
	return descent;
}

void descent_begin(struct descent *descent, uint64_t from) {
	descent->at = from;
	descent->value = INFINITY;
	descent->listed = false;
}

static void descent_list(struct descent *descent) {
	const struct space *space = descent->task->space;
	descent->value = outcome_log(history_find(descent->task->history, descent->at));
	descent->count = space_near(space, descent->at, descent->kind, descent->near, DESCENT_NEAR_MAX);
	rng_shuffle(descent->rng, descent->near, descent->count, sizeof *descent->near);
	descent->listed = true;
}

/* The best neighbour known to be better, or UINT64_MAX. */
static uint64_t descent_better(const struct descent *descent) {
	double least = descent->value;
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; i < descent->count; i++) {
		double value = outcome_log(history_find(descent->task->history, descent->near[i]));
		if (value < least) {
			least = value;
			best = descent->near[i];
		}
	}
	return best;
}

static enum step descent_fresh(const struct descent *descent, uint64_t *index) {
	const struct history *history = descent->task->history;
	enum step step = STEP_DONE;
	for (size_t i = 0; i < descent->count; i++) {
		if (!history_taken(history, descent->near[i])) {
			*index = descent->near[i];
			return STEP_ASK;
		}
		if (!history_find(history, descent->near[i]))
			step = STEP_WAIT;
	}
	return step;
}

enum step descent_next(struct descent *descent, uint64_t *index) {
	const struct history *history = descent->task->history;
	if (!descent->listed && !history_find(history, descent->at)) {
		*index = descent->at;
		return history_taken(history, descent->at) ? STEP_WAIT : STEP_ASK;
	}
	if (!descent->listed)
		descent_list(descent);
	for (uint64_t to; (to = descent_better(descent)) != UINT64_MAX;) {
		descent->at = to;
		descent_list(descent);
	}
	return descent_fresh(descent, index);
}

uint64_t descent_at(const struct descent *descent) {
	return descent->at;
}

double descent_value(const struct descent *descent) {
	return descent->value;
}
