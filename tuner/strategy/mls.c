/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multi-start local search (Marti, Resende, Ribeiro: Multi-start methods for combinatorial optimization, 2013, section
 * 2): greedy descents, one after the other, each from the best place sampled where none began before. */
#include <config.h>

#include "tuner/strategy/chains.h"

static void chain_init(void *chain, struct chains *chains) {
	descent_init(chain, &chains->task, SPACE_HAMMING, &chains->rng);
}

static void chain_begin(void *chain, uint64_t from) {
	descent_begin(chain, from);
}

static enum step chain_next(void *chain, uint64_t *index) {
	struct descent *descent = chain;
	enum step step = descent_next(descent, index);
	if (step == STEP_DONE)
		*index = descent->at;
	return step;
}

static const struct chain_kind kind = {
	.name = "mls",
	.doing = "goes down to the nearest local minimum",
	.size = sizeof(struct descent),
	.init = chain_init,
	.begin = chain_begin,
	.next = chain_next,
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)err;
	chains_init(state, task, &kind);
	return 0;
}

const struct strategy strategy_mls = {
	.name = "mls",
	.summary = "multi-start local search: greedy descents, each from the best place sampled",
	.state_size = sizeof(struct chains),
	.init = init,
	.ask = chains_ask,
	.tell = chains_tell,
	.phase = chains_phase,
};
