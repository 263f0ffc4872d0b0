/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A portfolio of the registry's own strategies, each an arm of a bandit: Ansel et al., OpenTuner: an extensible
 * framework for program autotuning, 2014, section 4.2. One arm is asked, all are told, so that each builds on what the
 * others found; credit.h says which is asked. */
#include <config.h>

#include <stdio.h>

#include "tuner/strategy/credit.h"
#include "tuner/strategy/level.h"

/* Searches without a model, which cost little to keep in step. Local searches first: what they find early is where the
 * populations begin. */
static const char *const names[] = {"basin", "ils", "mls", "annealing", "swarm", "genetic", "diffevo"};
enum { ARMS = sizeof names / sizeof *names };

struct arm {
	const struct strategy *strategy;
	void *state;
};

struct bandit {
	struct arm arms[ARMS];
	size_t last; /* asked last */
	struct credit *credit;
	char phase[160];
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct bandit *bandit = state;
	bandit->credit = credit_new(task->arena, ARMS);
	for (size_t i = 0; i < ARMS; i++) {
		struct arm *arm = &bandit->arms[i];
		arm->strategy = strategy_find(names[i]);
		arm->state = arena_alloc(task->arena, 1, arm->strategy->state_size);
		if (arm->strategy->init(arm->state, task, err))
			return -1;
	}
	return 0;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct bandit *bandit = state;
	bool idle[ARMS] = {false};
	(void)want;
	for (size_t tries = 0; tries < ARMS; tries++) {
		size_t at = credit_choose(bandit->credit, idle);
		struct arm *arm = &bandit->arms[at];
		if (arm->strategy->ask(arm->state, out, 1)) {
			bandit->last = at;
			credit_use(bandit->credit, at, *out);
			return 1;
		}
		idle[at] = true; /* it waits */
	}
	return 0;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct bandit *bandit = state;
	credit_tell(bandit->credit, index, place_value(outcome));
	for (size_t i = 0; i < ARMS; i++)
		bandit->arms[i].strategy->tell(bandit->arms[i].state, index, outcome);
}

static const char *phase(const void *state) {
	const struct bandit *bandit = state;
	const struct arm *arm = &bandit->arms[bandit->last];
	const char *own = arm->strategy->phase ? arm->strategy->phase(arm->state) : NULL;
	return own ? own : arm->strategy->name;
}

const struct strategy strategy_bandit = {
	.name = "bandit",
	.summary = "a portfolio of the strategies without a model: who does well is asked more often",
	.state_size = sizeof(struct bandit),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
