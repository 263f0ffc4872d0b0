/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/chains.h"

#include <stdio.h>

#include "tuner/strategy/starts.h"

enum { CHAINS_MAX = 16, TURNS_MAX = 8 };

struct chain {
	void *own;
	bool begun;
};

void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind) {
	chains->task = *task;
	rng_split(&chains->rng, task->seed, kind->name);
	chains->kind = kind;
	chains->chain = arena_alloc(task->arena, CHAINS_MAX, sizeof *chains->chain);
	chains->starts = starts_new(&chains->task, &chains->rng);
}

/* A chain that ended goes to the back of the list, as the youngest. */
static void chain_end(struct chains *chains, size_t at) {
	struct chain ended = {.own = chains->chain[at].own};
	for (; at + 1 < chains->count; at++)
		chains->chain[at] = chains->chain[at + 1];
	chains->chain[at] = ended;
	chains->ended++;
}

static void chain_add(struct chains *chains) {
	if (chains->count == CHAINS_MAX) {
		chain_end(chains, 0);
		return;
	}
	struct chain *chain = &chains->chain[chains->count++];
	chain->own = arena_alloc(chains->task.arena, 1, chains->kind->size);
	chains->kind->init(chain->own, chains);
}

/* STEP_DONE: the chain has just begun or ended, and another turn is needed. */
static enum step chain_turn(struct chains *chains, size_t at, uint64_t *index) {
	struct chain *chain = &chains->chain[at];
	enum step step = chain->begun ? chains->kind->next(chain->own, index) : starts_next(chains->starts, index);
	if (step == STEP_DONE && chain->begun) {
		starts_visited(chains->starts, *index);
		chain_end(chains, at);
	} else if (step == STEP_DONE) {
		chains->kind->begin(chain->own, *index);
		chain->begun = true;
	}
	return step;
}

static void describe(struct chains *chains, size_t at) {
	const char *doing = chains->chain[at].begun ? chains->kind->doing : "samples starting points";
	snprintf(chains->phase, sizeof chains->phase, "%s: %s, %zu ended", chains->kind->name, doing, chains->ended);
}

/* One at a time, because the search marks each as taken before it asks again. */
size_t chains_ask(void *state, uint64_t *out, size_t want) {
	struct chains *chains = state;
	size_t at = 0;
	(void)want;
	for (int turn = 0; turn < TURNS_MAX; turn++) {
		if (at == chains->count) {
			if (at == CHAINS_MAX)
				at--;
			chain_add(chains);
		}
		enum step step = chain_turn(chains, at, out);
		if (step == STEP_ASK) {
			describe(chains, at);
			return 1;
		}
		at += step == STEP_WAIT;
	}
	*out = history_unseen(chains->task.history, chains->task.space, &chains->rng);
	return *out != UINT64_MAX;
}

/* Chains read the history instead. */
void chains_tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state, (void)index, (void)outcome;
}

const char *chains_phase(const void *state) {
	const struct chains *chains = state;
	return chains->phase[0] ? chains->phase : NULL;
}
