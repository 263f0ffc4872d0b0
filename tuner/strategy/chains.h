/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that move from configuration to configuration, several at once. The oldest chain that can propose does so;
 * if all wait for results another chain begins, and if too many wait the one that has waited longest starts again
 * elsewhere. So a single chain fills a batch while it can, and results that never arrive do not block the search. */
#ifndef TUNER_STRATEGY_CHAINS_H
#define TUNER_STRATEGY_CHAINS_H
#include "tuner/strategy/descent.h"

struct chains;
struct chain_kind {
	const char *name, *doing; /* for the description */
	size_t size;              /* of a chain's state, which is set to zero */
	void (*init)(void *chain, struct chains *chains);
	void (*begin)(void *chain, uint64_t from);       /* at a measured configuration; may be called again */
	enum step (*next)(void *chain, uint64_t *index); /* STEP_DONE: the configuration where the chain ended */
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

/* Members of a strategy's table, whose state is a struct chains. */
void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind);
size_t chains_ask(void *state, uint64_t *out, size_t want);
void chains_tell(void *state, uint64_t index, const struct strategy_outcome *outcome);
const char *chains_phase(const void *state);

#endif
