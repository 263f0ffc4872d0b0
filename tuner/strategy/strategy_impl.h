/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that move from configuration to configuration, several at once. The oldest chain that can propose does so;
 * if all wait for results another chain begins, and if too many wait the one that has waited longest starts again
 * elsewhere. So a single chain fills a batch while it can, and results that never arrive do not block the search. */
#ifndef TUNER_STRATEGY_STRATEGY_IMPL_H
#define TUNER_STRATEGY_STRATEGY_IMPL_H
#include "tuner/search/strategy.h"

enum step {
	STEP_ASK,  /* measure this configuration */
	STEP_WAIT, /* everything it could ask for is being measured */
	STEP_DONE  /* it has reached a local minimum */
};

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

/* The neighbours of a configuration in random order, with near values more likely to come first. */

struct around {
	uint64_t *index;
	size_t count;
	struct around_rank *rank;
};
void around_init(struct around *around, struct arena *arena);
void around_list(struct around *around, const struct space *space, uint64_t from, struct rng *rng);

/* Logarithm of the objective; INFINITY if it was not measured, failed, or was cut short, because a limit does not say
 * enough to move there. */
double outcome_log(const struct strategy_outcome *outcome);

/* Starting points of chains: a handful of configurations is sampled, and a chain starts at the best of all samples that
 * was not used yet. This follows the multi level methods of Rinnooy Kan and Timmer (Stochastic global optimization
 * methods, part II, 1987), where a sample is drawn before local searches start at its best points. The baseline and the
 * machine's hints are sampled first; if the best result so far, for example of an earlier search, was not a starting
 * point yet, it goes before all samples. */

struct starts;

/* A greedy descent through neighbours. It reads the history instead of being told results, so that they may come in any
 * order, late, never, or from elsewhere, and known configurations cost nothing. It moves to the best neighbour that is
 * known to be better; as it asks for one at a time, this is the first improvement, unless a batch found several. */

struct descent {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t at;
	double value; /* outcome_log of `at` */
	bool listed;  /* `around` has the neighbours of `at` */
	struct around around;
};

/* The search as it would be without earlier searches, beside the one that learns from them: sources can mislead, and a
 * model that starts at their best explores too little to notice. The cold search is told only what it asked for and
 * what nobody asked for (the baseline), so that it takes the steps that it would take alone, if with the
 * lengths of the sources' models (strategy_task.lengths); a configuration that was measured already costs it nothing.
 * Bad sources therefore cost no more evaluations than the informed search has turns: a few at first, a few more for
 * each improvement that it finds, and then one of many (ADR 9). */

struct cold;
/* Allocated in task->arena. `strategy` must accept a task without sources. NULL with err: it failed to begin. */
struct cold *cold_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err);
/* The cold search's proposal if it is its turn and not UINT64_MAX; otherwise the informed search proposes. */
uint64_t cold_ask(struct cold *cold);
/* The informed search asked for this configuration. */
void cold_await(struct cold *cold, uint64_t index);
/* `sources`: the informed search still uses some, for otherwise its improvements do not speak for them. */
void cold_report(struct cold *cold, uint64_t index, const struct strategy_outcome *outcome, bool sources);
#endif
