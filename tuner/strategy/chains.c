/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/chains.h"

#include "tuner/strategy/starts.h"

enum { BEGINNINGS_MAX = 64 };

struct chain {
	void *own;
	bool begun;
};

void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind,
                 const char *purpose) {
	chains->task = *task;
	rng_split(&chains->rng, task->seed, purpose);
	chains->kind = kind;
	chains->chain = arena_alloc(task->arena, CHAINS_MAX, sizeof *chains->chain);
	chains->starts = starts_new(&chains->task, &chains->rng);
}

static enum step chain_next(struct chains *chains, struct chain *chain, uint64_t *index) {
	for (int i = 0; i < BEGINNINGS_MAX; i++) {
		enum step step = chain->begun ? chains->kind->next(chain->own, index) : starts_next(chains->starts, index);
		if (step != STEP_DONE)
			return step;
		if (!chain->begun)
			chains->kind->begin(chain->own, *index);
		else
			starts_visited(chains->starts, *index);
		chain->begun = !chain->begun;
	}
	return STEP_WAIT;
}

static struct chain *chain_add(struct chains *chains) {
	struct chain first = chains->chain[0];
	if (chains->count < CHAINS_MAX) {
		chains->chain[chains->count] = (struct chain){.own = chains->kind->make(chains)};
		return &chains->chain[chains->count++];
	}
	for (size_t i = 1; i < CHAINS_MAX; i++)
		chains->chain[i - 1] = chains->chain[i];
	first.begun = false;
	chains->chain[CHAINS_MAX - 1] = first;
	return &chains->chain[CHAINS_MAX - 1];
}

size_t chains_ask(struct chains *chains, uint64_t *out) {
	for (size_t i = 0; i < chains->count; i++)
		if (chain_next(chains, &chains->chain[i], out) == STEP_ASK)
			return 1;
	if (chain_next(chains, chain_add(chains), out) == STEP_ASK)
		return 1;
	*out = history_unseen(chains->task.history, chains->task.space, &chains->rng);
	return *out != UINT64_MAX;
}
