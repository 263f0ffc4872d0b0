/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Local search from several starts, parameter by parameter: iterated local search (Lourenco, Martin, Stuetzle 2003) whose
 * descent is a line search along one parameter at a time.
 *
 * A line has rays: a parameter of numbers has one up and one down from where it stands, a parameter of words has one for
 * each other word. A ray is followed while it gets better, or not worse than noise would make it. After all parameters
 * stand still, the rest of the best configuration's neighbours are tried, then the search starts again a few random steps
 * away from the best, and now and then at random. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/strategy/strategy.h"

enum { NEAR_MAX = 1024, KICK_STEPS = 3, KICK_TRIES = 40, RANDOM_EVERY = 4 };
static const double NOISE = 1.02; /* a ray goes on through what is at most this much worse */

enum stage { STAGE_START, STAGE_LINE, STAGE_NEIGHBOURS };

struct ray {
	uint64_t *index; /* in the order of distance from where the line began */
	size_t count, at;
	bool improved;
};

struct local {
	struct strategy_task task;
	struct rng rng;
	enum stage stage;
	size_t params;
	size_t *order;    /* of the parameters in a pass */
	double *effect;   /* the largest relative gain that each has given */
	size_t at;        /* in order */
	bool improved;    /* in this pass */
	uint64_t current; /* UINT64_MAX: none yet */
	double value;     /* of current; INFINITY: did not work */
	struct ray *rays;
	size_t ray_count, ray;
	uint64_t pending; /* asked for and not yet told; UINT64_MAX: none */
	uint64_t *near;
	size_t near_count, near_at;
	int *here, *there; /* configurations, for scratch */
	unsigned starts;
};

static double outcome_value(const struct strategy_outcome *outcome) {
	return outcome->result == STRATEGY_VALUE ? outcome->value : INFINITY;
}

/* Words first, since they change most; a kernel's own parameters come after those of the machine, so from the last. */
static void order_first(struct local *local) {
	size_t count = 0;
	for (int numbers = 0; numbers < 2; numbers++)
		for (size_t p = local->params; p-- > 0;)
			if (space_param_values(local->task.space, p) > 1 && space_param_ordered(local->task.space, p) == (numbers == 1))
				local->order[count++] = p;
	local->params = count;
}

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct local *local = state;
	size_t all = space_params(task->space), values = 0;
	(void)err;
	local->task = *task;
	rng_split(&local->rng, task->seed, "strategy local");
	for (size_t p = 0; p < all; p++)
		values += space_param_values(task->space, p);
	local->order = arena_alloc(task->arena, all + 1, sizeof *local->order);
	local->effect = arena_alloc(task->arena, all + 1, sizeof *local->effect);
	local->here = arena_alloc(task->arena, all + 1, sizeof *local->here);
	local->there = arena_alloc(task->arena, all + 1, sizeof *local->there);
	local->near = arena_alloc(task->arena, NEAR_MAX, sizeof *local->near);
	local->rays = arena_alloc(task->arena, values + 2, sizeof *local->rays);
	for (size_t r = 0; r < values + 2; r++)
		local->rays[r].index = arena_alloc(task->arena, values + 2, sizeof *local->rays[r].index);
	local->params = all;
	order_first(local);
	local->pending = local->current = UINT64_MAX;
	local->value = INFINITY;
	return 0;
}

/* Which parameter a neighbour changes: the first that exists in both and differs; others follow from it. */
static size_t changed(const struct local *local) {
	size_t all = space_params(local->task.space), second = all;
	for (size_t p = 0; p < all; p++) {
		if (local->here[p] == local->there[p])
			continue;
		if (local->here[p] != SPACE_ABSENT && local->there[p] != SPACE_ABSENT)
			return p;
		if (second == all)
			second = p;
	}
	return second;
}

static void ray_add(struct ray *ray, uint64_t index) {
	ray->index[ray->count++] = index;
}

/* The rays along parameter `param` from the current configuration. space_near lists values in order. */
static void line_begin(struct local *local, size_t param) {
	const struct space *space = local->task.space;
	bool ordered = space_param_ordered(space, param);
	size_t count = space_near(space, local->current, SPACE_HAMMING, local->near, NEAR_MAX);
	space_config(space, local->current, local->here);
	local->ray_count = ordered ? 2 : 0;
	local->ray = 0;
	for (size_t r = 0; r < local->ray_count; r++)
		local->rays[r] = (struct ray){.index = local->rays[r].index};
	for (size_t i = 0; i < count; i++) {
		space_config(space, local->near[i], local->there);
		if (changed(local) != param)
			continue;
		if (ordered) {
			ray_add(&local->rays[local->there[param] > local->here[param] ? 0 : 1], local->near[i]);
		} else {
			struct ray *ray = &local->rays[local->ray_count++];
			*ray = (struct ray){.index = ray->index};
			ray_add(ray, local->near[i]);
		}
	}
	if (ordered) { /* downwards the nearest comes last in the list */
		struct ray *down = &local->rays[1];
		for (size_t i = 0; i < down->count / 2; i++) {
			uint64_t swapped = down->index[i];
			down->index[i] = down->index[down->count - 1 - i];
			down->index[down->count - 1 - i] = swapped;
		}
		if (rng_below(&local->rng, 2)) {
			struct ray swapped = local->rays[0];
			local->rays[0] = local->rays[1];
			local->rays[1] = swapped;
		}
	} else {
		rng_shuffle(&local->rng, local->rays, local->ray_count, sizeof *local->rays);
	}
}

/* A value has come in for the next index of the ray in hand. */
static void line_step(struct local *local, double value) {
	struct ray *ray = &local->rays[local->ray];
	uint64_t index = ray->index[ray->at++];
	bool goes_on = value <= local->value * NOISE;
	if (value < local->value) {
		size_t param = local->order[local->at];
		double gain = isinf(local->value) ? 1 : 1 - value / local->value;
		if (gain > local->effect[param])
			local->effect[param] = gain;
		local->current = index;
		local->value = value;
		local->improved = true;
		ray->improved = true;
	}
	bool ordered = space_param_ordered(local->task.space, local->order[local->at]);
	if (!ordered || !goes_on || ray->at == ray->count) {
		local->ray++;
		if (ordered && ray->improved)
			local->ray = local->ray_count; /* it fell on this side, so it rises on the other */
	}
}

static void pass_begin(struct local *local) {
	for (size_t i = 1; i < local->params && local->starts > 1; i++) /* insertion sort by effect, stable */
		for (size_t k = i; k > 0 && local->effect[local->order[k - 1]] < local->effect[local->order[k]]; k--) {
			size_t swapped = local->order[k];
			local->order[k] = local->order[k - 1];
			local->order[k - 1] = swapped;
		}
	local->at = 0;
	local->improved = false;
	local->stage = STAGE_LINE;
	if (local->params)
		line_begin(local, local->order[0]);
}

static void descend_from(struct local *local, uint64_t index, double value) {
	local->current = index;
	local->value = value;
	local->starts++;
	pass_begin(local);
}

static void neighbours_begin(struct local *local) {
	local->stage = STAGE_NEIGHBOURS;
	local->near_at = 0;
	local->near_count = space_near(local->task.space, local->current, SPACE_HAMMING, local->near, NEAR_MAX);
	rng_shuffle(&local->rng, local->near, local->near_count, sizeof *local->near);
}

/* The next index of this line that has to be measured; UINT64_MAX when the line is done. */
static uint64_t line_next(struct local *local) {
	while (local->ray < local->ray_count) {
		struct ray *ray = &local->rays[local->ray];
		if (ray->at == ray->count) {
			local->ray++;
			continue;
		}
		const struct strategy_outcome *known = history_find(local->task.history, ray->index[ray->at]);
		if (!known)
			return ray->index[ray->at];
		line_step(local, outcome_value(known));
	}
	return UINT64_MAX;
}

static uint64_t descent_next(struct local *local) {
	while (local->stage == STAGE_LINE) {
		uint64_t index = local->at < local->params ? line_next(local) : UINT64_MAX;
		if (index != UINT64_MAX)
			return index;
		if (++local->at < local->params)
			line_begin(local, local->order[local->at]);
		else if (local->improved)
			pass_begin(local);
		else
			neighbours_begin(local);
	}
	return UINT64_MAX;
}

static uint64_t neighbour_next(struct local *local) {
	while (local->near_at < local->near_count) {
		uint64_t index = local->near[local->near_at++];
		if (!history_taken(local->task.history, index))
			return index;
	}
	local->stage = STAGE_START;
	return UINT64_MAX;
}

/* A few random steps from the best; at random every few starts, and when everything around is known. */
static uint64_t start_next(struct local *local) {
	const struct history *history = local->task.history;
	uint64_t best = history_best(history);
	if (local->starts == 0 && local->task.start != UINT64_MAX && !history_taken(history, local->task.start))
		return local->task.start;
	for (int tries = 0; best != UINT64_MAX && local->starts % RANDOM_EVERY != 0 && tries < KICK_TRIES; tries++) {
		uint64_t index = best;
		for (int step = 0; step < KICK_STEPS; step++) {
			size_t count = space_near(local->task.space, index, SPACE_HAMMING, local->near, NEAR_MAX);
			if (count)
				index = local->near[rng_below(&local->rng, count)];
		}
		if (!history_taken(history, index))
			return index;
	}
	return history_unseen(history, local->task.space, &local->rng);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct local *local = state;
	(void)want;
	if (local->pending != UINT64_MAX)
		return 0;
	if (local->stage == STAGE_LINE)
		*out = descent_next(local);
	if (local->stage == STAGE_NEIGHBOURS)
		*out = neighbour_next(local);
	if (local->stage == STAGE_START)
		*out = start_next(local);
	local->pending = *out;
	return *out != UINT64_MAX;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct local *local = state;
	double value = outcome_value(outcome);
	if (local->starts == 0 && local->pending == UINT64_MAX && index == local->task.start) {
		descend_from(local, index, value); /* the baseline, measured by the caller */
		return;
	}
	if (index != local->pending)
		return;
	local->pending = UINT64_MAX;
	if (local->stage == STAGE_START)
		descend_from(local, index, value);
	else if (local->stage == STAGE_LINE)
		line_step(local, value);
	else if (value < local->value)
		descend_from(local, index, value);
}

static const char *phase(const void *state) {
	static const char *const words[] = {"local: a new start", "local: along one parameter", "local: around the best"};
	return words[((const struct local *)state)->stage];
}

const struct strategy strategy_local = {
	.name = "local",
	.summary = "line searches along one parameter at a time, from several starts",
	.state_size = sizeof(struct local),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
