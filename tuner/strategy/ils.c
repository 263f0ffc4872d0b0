/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Iterated local search (Lourenco, Martin, Stuetzle, Iterated local search, 2003, sections 2 and 4): a few random steps
 * from the best local minimum of the chain, more of them the longer it has not improved, then another descent. Only
 * improvements are accepted; after enough failed attempts the chain starts elsewhere. */
#include <math.h>

#include "tuner/strategy/strategy_impl.h"

static void descent_init(struct descent *descent, const struct strategy_task *task, struct rng *rng) {
	descent->task = task;
	descent->rng = rng;
	around_init(&descent->around, task->arena);
}

/* `from` is any valid configuration, measured or not. */
static void descent_begin(struct descent *descent, uint64_t from) {
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

static enum step descent_next(struct descent *descent, uint64_t *index) {
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

enum { STEPS_MAX = 4, PATIENCE = 6 };

struct ils {
	struct descent descent;
	uint64_t best;
	double value;
	unsigned vain;
};

static void chain_init(void *chain, struct chains *chains) {
	struct ils *ils = chain;
	descent_init(&ils->descent, &chains->task, &chains->rng);
}

static void chain_begin(void *chain, uint64_t from) {
	struct ils *ils = chain;
	ils->value = INFINITY;
	ils->best = from;
	ils->vain = 0;
	descent_begin(&ils->descent, from);
}

/* The end of a random walk of so many steps; `from` itself if it has no neighbours. Overwrites the list. */
static uint64_t around_walk(struct around *around, const struct space *space, uint64_t from, size_t steps,
                            struct rng *rng) {
	while (steps-- > 0) {
		around_list(around, space, from, rng);
		if (around->count == 0)
			break;
		from = around->index[0];
	}
	return from;
}

static void kick(struct ils *ils) {
	struct descent *descent = &ils->descent;
	size_t steps = 1 + ils->vain * STEPS_MAX / (PATIENCE + 1);
	uint64_t to = around_walk(&descent->around, descent->task->space, ils->best, steps, descent->rng);
	descent_begin(descent, to);
}

static enum step chain_next(void *chain, uint64_t *index) {
	struct ils *ils = chain;
	enum step step;
	while ((step = descent_next(&ils->descent, index)) == STEP_DONE) {
		bool better = ils->descent.value < ils->value;
		if (better) {
			ils->value = ils->descent.value;
			ils->best = ils->descent.at;
		}
		ils->vain = better ? 0 : ils->vain + 1;
		if (ils->vain > PATIENCE)
			break;
		kick(ils);
	}
	if (step == STEP_DONE)
		*index = ils->best;
	return step;
}

static const struct chain_kind kind = {
	.name = "ils",
	.doing = "descends again from a few steps off the best local minimum",
	.size = sizeof(struct ils),
	.init = chain_init,
	.begin = chain_begin,
	.next = chain_next,
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)err;
	chains_init(state, task, &kind);
	return 0;
}

const struct strategy strategy_ils = {
	.name = "ils",
	.summary = "iterated local search: greedy descents around the best local minimum",
	.state_size = sizeof(struct chains),
	.init = init,
	.ask = chains_ask,
	.tell = chains_tell,
	.phase = chains_phase,
};
