/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Genetic algorithm (Goldberg, Genetic algorithms in search, optimization and machine learning, 1989, chapter 3) with
 * uniform crossover (Syswerda, Uniform crossover in genetic algorithms, 1989) in a steady state: each child competes at
 * once with the whole population and replaces its worst member (Whitley, The GENITOR algorithm and selection pressure,
 * 1989, sections 2 and 3). There is no generation to wait for, and results from elsewhere can join.
 *
 * Since nothing is measured twice, the children of a population that has converged are its nearest unseen neighbours;
 * when these do not improve it for long, a new population begins. */
#include <math.h>

#include "tuner/search/strategy.h"

/* Configurations as vectors of levels, for population searches: how they begin, mutations, and the way from a vector
 * back to a valid configuration that is not taken. */

static const double CUT = 1.5;  /* assumed value of a trial that was cut short, over its limit */
static const double FAR = 0.35; /* chance that a step is extended by another level */

struct levels {
	struct strategy_task task;
	size_t params, hint;
	size_t *choices, choice_count; /* parameters with more than one value */
	bool begun;
};

static struct levels *levels_new(const struct strategy_task *task) {
	struct levels *levels = arena_alloc(task->arena, 1, sizeof *levels);
	levels->task = *task;
	levels->params = space_params(task->space);
	levels->choices = arena_alloc(task->arena, levels->params, sizeof *levels->choices);
	for (size_t p = 0; p < levels->params; p++)
		if (space_param_values(task->space, p) > 1)
			levels->choices[levels->choice_count++] = p;
	return levels;
}

/* A value to compare by: a trial that was cut short counts as somewhat slower than its limit, a failure as INFINITY. */
static double levels_value(const struct strategy_outcome *outcome) {
	switch (outcome->result) {
	case STRATEGY_VALUE:
		return outcome->value;
	case STRATEGY_CENSORED:
		return CUT * outcome->value;
	default:
		return INFINITY;
	}
}

/* The levels of a configuration; NAN where a parameter is absent. */
static void levels_vector(const struct levels *levels, uint64_t index, double *vector) {
	int config[SPACE_PARAMS_MAX];
	space_config(levels->task.space, index, config);
	for (size_t p = 0; p < levels->params; p++)
		vector[p] = config[p] == SPACE_ABSENT ? NAN : config[p];
}

/* Most vectors are valid once they are rounded, which is far cheaper than a search for the nearest. */
static bool levels_rounded(const struct levels *levels, const double *vector, uint64_t *index) {
	int config[SPACE_PARAMS_MAX];
	for (size_t p = 0; p < levels->params; p++)
		config[p] = isnan(vector[p]) ? SPACE_ABSENT : (int)lround(vector[p]);
	return space_index(levels->task.space, config, index);
}

/* The valid configuration nearest to the vector, whether it is taken or not. */
static uint64_t levels_nearest(const struct levels *levels, const double *vector) {
	uint64_t index = UINT64_MAX;
	if (!levels_rounded(levels, vector, &index))
		space_nearest(levels->task.space, vector, &index, 1);
	return index;
}

/* The nearest configuration that is not taken, or a random one if all near ones are. UINT64_MAX: the space is used up.
 */
static uint64_t levels_unseen(const struct levels *levels, const double *vector, struct rng *rng) {
	uint64_t near[SPACE_NEAREST_MAX];
	if (levels_rounded(levels, vector, near) && !history_taken(levels->task.history, *near))
		return *near;
	size_t count = space_nearest(levels->task.space, vector, near, SPACE_NEAREST_MAX);
	for (size_t i = 0; i < count; i++)
		if (!history_taken(levels->task.history, near[i]))
			return near[i];
	return history_unseen(levels->task.history, levels->task.space, rng);
}

/* A configuration to begin with: the baseline, hints, then random ones. UINT64_MAX: the space is used up. */
static uint64_t levels_first(struct levels *levels, struct rng *rng) {
	const struct strategy_task *task = &levels->task;
	if (!levels->begun && task->start < space_valid(task->space) && !history_taken(task->history, task->start))
		return task->start;
	levels->begun = true;
	for (; levels->hint < task->hint_count; levels->hint++)
		if (task->hints[levels->hint] < space_valid(task->space) &&
		    !history_taken(task->history, task->hints[levels->hint]))
			return task->hints[levels->hint];
	return history_unseen(task->history, task->space, rng);
}

/* Numbers move up or down, mostly by one level; words take any other. */
static void levels_step(const struct levels *levels, double *vector, size_t param, struct rng *rng) {
	double last = (double)space_param_values(levels->task.space, param) - 1, step = 1;
	if (last < 1)
		return;
	if (isnan(vector[param])) {
		vector[param] = (double)rng_below(rng, (uint64_t)last + 1);
		return;
	}
	if (!space_param_ordered(levels->task.space, param)) {
		double other = (double)rng_below(rng, (uint64_t)last);
		vector[param] = other + (other >= vector[param]);
		return;
	}
	while (step < last && rng_unit(rng) < FAR)
		step++;
	double way = rng_u64(rng) >> 63 ? step : -step, to = vector[param] + way;
	if (to < 0 || to > last)
		to = vector[param] - way;
	vector[param] = fmin(fmax(to, 0), last);
}

/* Moves each parameter that has a choice with the same probability, `count` of them on average and at least one:
 * numbers mostly by one level, words to any other. */
static void levels_mutate(const struct levels *levels, double *vector, double count, struct rng *rng) {
	if (levels->choice_count == 0)
		return;
	double chance = count / (double)levels->choice_count;
	bool moved = false;
	for (size_t i = 0; i < levels->choice_count; i++)
		if (rng_unit(rng) < chance) {
			levels_step(levels, vector, levels->choices[i], rng);
			moved = true;
		}
	if (!moved)
		levels_step(levels, vector, levels->choices[rng_below(rng, levels->choice_count)], rng);
}

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
