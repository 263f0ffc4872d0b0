/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/descent.h"

#include <math.h>

void descent_init(struct descent *descent, const struct strategy_task *task, struct rng *rng) {
	descent->task = task;
	descent->rng = rng;
	around_init(&descent->around, task->arena);
}

void descent_begin(struct descent *descent, uint64_t from) {
	descent->at = from;
	descent->value = INFINITY;
	descent->listed = false;
}

static void descent_list(struct descent *descent) {
	descent->value = outcome_log(history_find(descent->task->history, descent->at));
	around_list(&descent->around, descent->task->space, descent->at, descent->rng);
	descent->listed = true;
}

/* The best of the neighbours that are known to be better, or UINT64_MAX. */
static uint64_t descent_better(const struct descent *descent) {
	const struct around *around = &descent->around;
	double least = descent->value;
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; i < around->count; i++) {
		double value = outcome_log(history_find(descent->task->history, around->index[i]));
		if (value < least) {
			least = value;
			best = around->index[i];
		}
	}
	return best;
}

static bool is_doubted(const struct descent *descent, uint64_t index) {
	const struct strategy_task *task = descent->task;
	return task->doubts && task->doubts(task->model, index);
}

/* Configurations that will probably fail are passed over, as if they had. */
static enum step descent_fresh(const struct descent *descent, uint64_t *index) {
	const struct history *history = descent->task->history;
	const struct around *around = &descent->around;
	enum step step = STEP_DONE;
	for (size_t i = 0; i < around->count; i++) {
		bool taken = history_taken(history, around->index[i]);
		if (!taken && !is_doubted(descent, around->index[i])) {
			*index = around->index[i];
			return STEP_ASK;
		}
		if (taken && !history_find(history, around->index[i]))
			step = STEP_WAIT;
	}
	return step;
}

enum step descent_next(struct descent *descent, uint64_t *index) {
	const struct history *history = descent->task->history;
	if (!descent->listed && !history_find(history, descent->at)) {
		bool taken = history_taken(history, descent->at);
		*index = descent->at;
		if (taken || !is_doubted(descent, descent->at))
			return taken ? STEP_WAIT : STEP_ASK;
	}
	if (!descent->listed)
		descent_list(descent);
	for (uint64_t to; (to = descent_better(descent)) != UINT64_MAX;) {
		descent->at = to;
		descent_list(descent);
	}
	return descent_fresh(descent, index);
}
