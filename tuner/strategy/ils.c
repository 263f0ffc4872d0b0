/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Iterated local search (Lourenco, Martin, Stuetzle, Iterated local search, 2003, sections 2 and 4): a few random steps
 * from the best local minimum of the chain, more of them the longer it has not improved, then another descent. Only
 * improvements are accepted; after enough failed attempts the chain starts elsewhere. */
#include <config.h>

#include <math.h>

#include "tuner/strategy/chains.h"

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
