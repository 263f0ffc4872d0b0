/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Genetic algorithm: Goldberg, Genetic Algorithms in Search, Optimization and Machine Learning, 1989, chapter 3, with
 * uniform crossover (Syswerda, Uniform crossover in genetic algorithms, 1989) in a steady state: each child competes
 * with all at once and replaces the worst (Whitley, The GENITOR algorithm and selection pressure, 1989, sections 2 and
 * 3). So there is no generation to wait for, and whatever is told, by whomever, can join.
 *
 * Since nothing is measured twice, children of a population that has converged are its nearest unseen neighbours; when
 * those lead nowhere for long, a new population begins. */
#include <config.h>

#include <math.h>

#include "tuner/strategy/level.h"

enum { POPULATION = 8, BEGIN = 10, PARENTS = 2, CONTEST = 3, PATIENCE = 60 };
static const double CROSSED = 0.8, UNCHANGED = 0.5, MUTATIONS = 1;

struct member {
	uint64_t index;
	double value;
};

struct genetic {
	struct strategy_task task;
	struct rng rng;
	struct place *place;
	struct member members[POPULATION]; /* the best first */
	size_t count, begun, vain;         /* members; asked for to begin with; told since the better half got better */
	bool fresh;                        /* asked for a random one last */
	double *child, *other;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct genetic *genetic = state;
	(void)err;
	genetic->task = *task;
	genetic->place = place_new(task);
	genetic->child = arena_alloc(task->arena, space_params(task->space), sizeof *genetic->child);
	genetic->other = arena_alloc(task->arena, space_params(task->space), sizeof *genetic->other);
	rng_split(&genetic->rng, task->seed, "strategy genetic");
	return 0;
}

/* The best of a few. */
static size_t tournament(struct genetic *genetic) {
	size_t best = genetic->count;
	for (int i = 0; i < CONTEST; i++) {
		size_t other = rng_below(&genetic->rng, genetic->count);
		best = other < best ? other : best;
	}
	return best;
}

static void cross(struct genetic *genetic, size_t parent) {
	place_vector(genetic->place, genetic->members[parent].index, genetic->other);
	for (size_t p = 0; p < space_params(genetic->task.space); p++)
		if (isnan(genetic->child[p]) || (!isnan(genetic->other[p]) && rng_u64(&genetic->rng) >> 63))
			genetic->child[p] = genetic->other[p];
}

static uint64_t breed(struct genetic *genetic) {
	size_t mother = tournament(genetic), father = tournament(genetic);
	place_vector(genetic->place, genetic->members[mother].index, genetic->child);
	if (mother != father && rng_unit(&genetic->rng) < CROSSED) {
		cross(genetic, father);
		uint64_t index = place_nearest(genetic->place, genetic->child);
		if (!history_taken(genetic->task.history, index) && rng_unit(&genetic->rng) < UNCHANGED)
			return index;
	}
	place_mutate(genetic->place, genetic->child, MUTATIONS, &genetic->rng);
	return place_unseen(genetic->place, genetic->child, &genetic->rng);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct genetic *genetic = state;
	(void)want;
	if (genetic->vain >= PATIENCE)
		genetic->count = genetic->begun = genetic->vain = 0;
	genetic->fresh = genetic->count < PARENTS || (genetic->begun < BEGIN && genetic->count < POPULATION);
	*out = genetic->fresh ? place_first(genetic->place, &genetic->rng) : breed(genetic);
	genetic->begun++;
	return *out != UINT64_MAX;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct genetic *genetic = state;
	double value = place_value(outcome);
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
	.summary = "crossover and mutation of the best so far; a new population when those have converged",
	.state_size = sizeof(struct genetic),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
