/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Multi-start local search (Marti, Resende, Ribeiro: Multi-start methods for combinatorial optimization, 2013, section 2):
 * greedy descents, one after the other, each from the best place sampled where none began before. */
#include <config.h>

#include "tuner/strategy/chains.h"

static void *make(struct chains *chains) {
	return descent_new(&chains->task, SPACE_HAMMING, &chains->rng);
}

static void begin(void *chain, uint64_t from) {
	descent_begin(chain, from);
}

static enum step next(void *chain, uint64_t *index) {
	enum step step = descent_next(chain, index);
	if (step == STEP_DONE)
		*index = descent_at(chain);
	return step;
}

static const struct chain_kind kind = {.make = make, .begin = begin, .next = next};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)err;
	chains_init(state, task, &kind, "strategy mls");
	return 0;
}

/* One at a time: the search marks what it was given as taken before it asks again. */
static size_t ask(void *state, uint64_t *out, size_t want) {
	(void)want;
	return chains_ask(state, out);
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state, (void)index, (void)outcome;
}

const struct strategy strategy_mls = {
	.name = "mls",
	.summary = "greedy descents from the best of sampled places",
	.state_size = sizeof(struct chains),
	.init = init,
	.ask = ask,
	.tell = tell,
};
