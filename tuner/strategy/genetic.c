/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Genetic algorithm (Goldberg, Genetic algorithms in search, optimization and machine learning, 1989, chapter 3) with
 * uniform crossover (Syswerda, Uniform crossover in genetic algorithms, 1989) in a steady state: each child competes at
 * once with the whole population and replaces its worst member (Whitley, The GENITOR algorithm and selection pressure,
 * 1989, sections 2 and 3). There is no generation to wait for, and results from elsewhere can join.
 *
 * Since nothing is measured twice, the children of a population that has converged are its nearest unseen neighbours;
 * when these do not improve it for long, a new population begins. */
#include <config.h>

#include <math.h>

#include "tuner/strategy/levels.h"

enum { POPULATION = 8, BEGIN = 10, PARENTS = 2, CONTEST = 3, PATIENCE = 60 };
static const double CROSSED = 0.8, UNCHANGED = 0.5, MUTATIONS = 1;

struct member {
	uint64_t index;
	double value;
};

struct genetic {
	struct strategy_task task;
	struct rng rng;
	struct levels *levels;
	struct member members[POPULATION]; /* sorted, the best first */
	size_t count, begun, vain;         /* members; initial requests; results since the better half improved */
	bool fresh;                        /* the last request was for a new population */
	double *child, *other;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct genetic *genetic = state;
	(void)err;
	genetic->task = *task;
	genetic->levels = levels_new(task);
	genetic->child = arena_alloc(task->arena, space_params(task->space), sizeof *genetic->child);
	genetic->other = arena_alloc(task->arena, space_params(task->space), sizeof *genetic->other);
	rng_split(&genetic->rng, task->seed, "strategy genetic");
	return 0;
}

/* Tournament selection: members are sorted, so that the smallest of a few random indexes wins. */
static size_t tournament(struct genetic *genetic) {
	size_t best = genetic->count;
	for (int i = 0; i < CONTEST; i++) {
		size_t other = rng_below(&genetic->rng, genetic->count);
		best = other < best ? other : best;
	}
	return best;
}

static void cross(struct genetic *genetic, size_t parent) {
	levels_vector(genetic->levels, genetic->members[parent].index, genetic->other);
	for (size_t p = 0; p < space_params(genetic->task.space); p++)
		if (isnan(genetic->child[p]) || (!isnan(genetic->other[p]) && rng_u64(&genetic->rng) >> 63))
			genetic->child[p] = genetic->other[p];
}

static uint64_t breed(struct genetic *genetic) {
	size_t mother = tournament(genetic), father = tournament(genetic);
	levels_vector(genetic->levels, genetic->members[mother].index, genetic->child);
	if (mother != father && rng_unit(&genetic->rng) < CROSSED) {
		cross(genetic, father);
		uint64_t index = levels_nearest(genetic->levels, genetic->child);
		if (!history_taken(genetic->task.history, index) && rng_unit(&genetic->rng) < UNCHANGED)
			return index;
	}
	levels_mutate(genetic->levels, genetic->child, MUTATIONS, &genetic->rng);
	return levels_unseen(genetic->levels, genetic->child, &genetic->rng);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct genetic *genetic = state;
	(void)want;
	if (genetic->vain >= PATIENCE)
		genetic->count = genetic->begun = genetic->vain = 0;
	genetic->fresh = genetic->count < PARENTS || (genetic->begun < BEGIN && genetic->count < POPULATION);
	*out = genetic->fresh ? levels_first(genetic->levels, &genetic->rng) : breed(genetic);
	genetic->begun++;
	return *out != UINT64_MAX;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct genetic *genetic = state;
	double value = levels_value(outcome);
	size_t at = genetic->count;
	genetic->vain++;
	if (isinf(value) || (at == POPULATION && value >= genetic->members[--at].value))
		return;
	for (; at > 0 && genetic->members[at - 1].value > value; at--)
		genetic->members[at] = genetic->members[at - 1];
	genetic->members[at] = (struct member){index, value};
	genetic->count += genetic->count < POPULATION;
	if (at < POPULATION / 2)
		genetic->vain = 0;
}

static const char *phase(const void *state) {
	const struct genetic *genetic = state;
	return genetic->fresh ? "genetic: a new population" : "genetic: children of the best";
}

const struct strategy strategy_genetic = {
	.name = "genetic",
	.summary = "crossover and mutation of the best so far; a new population when they have converged",
	.state_size = sizeof(struct genetic),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
