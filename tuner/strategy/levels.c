/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/levels.h"

#include <math.h>

#include "tuner/space/nearest.h"

static const double CUT = 1.5;  /* assumed value of a trial that was cut short, over its limit */
static const double FAR = 0.35; /* chance that a step is extended by another level */

struct levels {
	struct strategy_task task;
	size_t params, hint;
	size_t *choices, choice_count; /* parameters with more than one value */
	bool begun;
};

struct levels *levels_new(const struct strategy_task *task) {
	struct levels *levels = arena_alloc(task->arena, 1, sizeof *levels);
	levels->task = *task;
	levels->params = space_params(task->space);
	levels->choices = arena_alloc(task->arena, levels->params, sizeof *levels->choices);
	for (size_t p = 0; p < levels->params; p++)
		if (space_param_values(task->space, p) > 1)
			levels->choices[levels->choice_count++] = p;
	return levels;
}

double levels_value(const struct strategy_outcome *outcome) {
	switch (outcome->result) {
	case STRATEGY_VALUE:
		return outcome->value;
	case STRATEGY_CENSORED:
		return CUT * outcome->value;
	default:
		return INFINITY;
	}
}

void levels_vector(const struct levels *levels, uint64_t index, double *vector) {
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

uint64_t levels_nearest(const struct levels *levels, const double *vector) {
	uint64_t index = UINT64_MAX;
	if (!levels_rounded(levels, vector, &index))
		space_nearest(levels->task.space, vector, &index, 1);
	return index;
}

uint64_t levels_unseen(const struct levels *levels, const double *vector, struct rng *rng) {
	uint64_t near[SPACE_NEAREST_MAX];
	if (levels_rounded(levels, vector, near) && !history_taken(levels->task.history, *near))
		return *near;
	size_t count = space_nearest(levels->task.space, vector, near, SPACE_NEAREST_MAX);
	for (size_t i = 0; i < count; i++)
		if (!history_taken(levels->task.history, near[i]))
			return near[i];
	return history_unseen(levels->task.history, levels->task.space, rng);
}

uint64_t levels_first(struct levels *levels, struct rng *rng) {
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

void levels_mutate(const struct levels *levels, double *vector, double count, struct rng *rng) {
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
