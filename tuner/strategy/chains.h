/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that go from place to place, several at once: the oldest that can ask, asks; where all wait for what was
 * asked for, another one begins, and with many waiting the one that waits longest gives up and begins anew. So a batch
 * is filled from one chain while it has something to ask for, and outcomes that never come block nothing. */
#ifndef TUNER_STRATEGY_CHAINS_H
#define TUNER_STRATEGY_CHAINS_H
#include "tuner/strategy/descent.h"

struct chains;
struct chain_kind {
	const char *name, *doing; /* for the phase */
	size_t size;              /* of a chain's state, zeroed */
	void (*init)(void *chain, struct chains *chains);
	void (*begin)(void *chain, uint64_t from);       /* somewhere that was measured, also a second time */
	enum step (*next)(void *chain, uint64_t *index); /* STEP_DONE: the place where it ended */
};

struct chains {
	struct strategy_task task;
	struct rng rng;
	const struct chain_kind *kind;
	struct starts *starts;
	struct chain *chain; /* the oldest first */
	size_t count, ended;
	char phase[120];
};

/* For tables of strategies; the state is a struct chains. */
void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind);
size_t chains_ask(void *state, uint64_t *out, size_t want);
void chains_tell(void *state, uint64_t index, const struct strategy_outcome *outcome);
const char *chains_phase(const void *state);

#endif
