/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/level.h"

#include <math.h>

#include "tuner/space/nearest.h"

static const double CUT = 1.5;  /* what was cut short, by its bound */
static const double FAR = 0.35; /* chance that a step goes on for another place */

struct place {
	struct strategy_task task;
	size_t params, hint;
	size_t *choices, choice_count; /* the parameters with more than one value */
	bool begun;
};

struct place *place_new(const struct strategy_task *task) {
	struct place *place = arena_alloc(task->arena, 1, sizeof *place);
	place->task = *task;
	place->params = space_params(task->space);
	place->choices = arena_alloc(task->arena, place->params, sizeof *place->choices);
	for (size_t p = 0; p < place->params; p++)
		if (space_param_values(task->space, p) > 1)
			place->choices[place->choice_count++] = p;
	return place;
}

double place_value(const struct strategy_outcome *outcome) {
	switch (outcome->result) {
	case STRATEGY_VALUE:
		return outcome->value;
	case STRATEGY_CENSORED:
		return CUT * outcome->value;
	default:
		return INFINITY;
	}
}

void place_vector(const struct place *place, uint64_t index, double *vector) {
	int config[SPACE_PARAMS_MAX];
	space_config(place->task.space, index, config);
	for (size_t p = 0; p < place->params; p++)
		vector[p] = config[p] == SPACE_ABSENT ? NAN : config[p];
}

/* Most wishes are valid once they are rounded. */
static bool place_rounded(const struct place *place, const double *vector, uint64_t *index) {
	int config[SPACE_PARAMS_MAX];
	for (size_t p = 0; p < place->params; p++)
		config[p] = isnan(vector[p]) ? SPACE_ABSENT : (int)lround(vector[p]);
	return space_index(place->task.space, config, index);
}

uint64_t place_nearest(const struct place *place, const double *vector) {
	uint64_t index = UINT64_MAX;
	if (!place_rounded(place, vector, &index))
		space_nearest(place->task.space, vector, &index, 1);
	return index;
}

uint64_t place_unseen(const struct place *place, const double *vector, struct rng *rng) {
	uint64_t near[SPACE_NEAREST_MAX];
	if (place_rounded(place, vector, near) && !history_taken(place->task.history, *near))
		return *near;
	size_t count = space_nearest(place->task.space, vector, near, SPACE_NEAREST_MAX);
	for (size_t i = 0; i < count; i++)
		if (!history_taken(place->task.history, near[i]))
			return near[i];
	return history_unseen(place->task.history, place->task.space, rng);
}

uint64_t place_first(struct place *place, struct rng *rng) {
	const struct strategy_task *task = &place->task;
	if (!place->begun && task->start < space_valid(task->space) && !history_taken(task->history, task->start))
		return task->start;
	place->begun = true;
	for (; place->hint < task->hint_count; place->hint++)
		if (task->hints[place->hint] < space_valid(task->space) &&
		    !history_taken(task->history, task->hints[place->hint]))
			return task->hints[place->hint];
	return history_unseen(task->history, task->space, rng);
}

void place_step(const struct place *place, double *vector, size_t param, struct rng *rng) {
	double last = (double)space_param_values(place->task.space, param) - 1, step = 1;
	if (last < 1)
		return;
	if (isnan(vector[param])) {
		vector[param] = (double)rng_below(rng, (uint64_t)last + 1);
		return;
	}
	if (!space_param_ordered(place->task.space, param)) {
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

void place_mutate(const struct place *place, double *vector, double count, struct rng *rng) {
	if (place->choice_count == 0)
		return;
	double chance = count / (double)place->choice_count;
	bool moved = false;
	for (size_t i = 0; i < place->choice_count; i++)
		if (rng_unit(rng) < chance) {
			place_step(place, vector, place->choices[i], rng);
			moved = true;
		}
	if (!moved)
		place_step(place, vector, place->choices[rng_below(rng, place->choice_count)], rng);
}
