/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/strategy/around.h"

#include <math.h>
#include <stdlib.h>

enum { AROUND_MAX = 1024 };

struct around_rank {
	double key;
	uint64_t index;
};

void around_init(struct around *around, struct arena *arena) {
	around->index = arena_alloc(arena, AROUND_MAX, sizeof *around->index);
	around->rank = arena_alloc(arena, AROUND_MAX, sizeof *around->rank);
	around->count = 0;
}

static int by_key(const void *a, const void *b) {
	const struct around_rank *x = a, *y = b;
	return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->index > y->index) - (x->index < y->index);
}

/* Number of steps from one configuration to the other. A word is one step from any other word, and so is a parameter
 * that appears or disappears. */
static int distance(const struct space *space, const int *here, const int *there) {
	int sum = 0;
	for (size_t p = 0; p < space_params(space); p++) {
		bool both = here[p] != SPACE_ABSENT && there[p] != SPACE_ABSENT;
		sum += both && space_param_ordered(space, p) ? abs(here[p] - there[p]) : here[p] != there[p];
	}
	return sum;
}

/* If there are too many neighbours, lists only the next values up and down, and those 2, 4, 8, .. steps away. */
static void list_far(struct around *around, const struct space *space, uint64_t from) {
	int config[SPACE_PARAMS_MAX];
	space_config(space, from, config);
	around->count = space_near(space, from, SPACE_ADJACENT, around->index, AROUND_MAX);
	for (size_t p = 0; p < space_params(space); p++) {
		int here = config[p], values = (int)space_param_values(space, p);
		if (here == SPACE_ABSENT || !space_param_ordered(space, p))
			continue;
		for (int step = 2; step < values; step *= 2)
			for (int side = -1; side <= 1 && around->count < AROUND_MAX; side += 2) {
				config[p] = here + side * step;
				around->count += config[p] >= 0 && space_index(space, config, &around->index[around->count]);
			}
		config[p] = here;
	}
}

static void list_near(struct around *around, const struct space *space, uint64_t from) {
	around->count = space_near(space, from, SPACE_HAMMING, around->index, AROUND_MAX);
	if (around->count == AROUND_MAX)
		list_far(around, space, from);
}

/* Shuffles by exponential keys, which is sampling with weights (Efraimidis and Spirakis, Weighted random sampling with
 * a reservoir, 2006). The weight is one over the root of the distance: a compromise between an equal chance for every
 * value, where long parameters dominate, and an equal chance for every parameter. */
void around_list(struct around *around, const struct space *space, uint64_t from, struct rng *rng) {
	int here[SPACE_PARAMS_MAX], there[SPACE_PARAMS_MAX];
	space_config(space, from, here);
	list_near(around, space, from);
	for (size_t i = 0; i < around->count; i++) {
		space_config(space, around->index[i], there);
		around->rank[i].key = -log(1 - rng_unit(rng)) * sqrt(distance(space, here, there));
		around->rank[i].index = around->index[i];
	}
	qsort(around->rank, around->count, sizeof *around->rank, by_key);
	for (size_t i = 0; i < around->count; i++)
		around->index[i] = around->rank[i].index;
}

uint64_t around_walk(struct around *around, const struct space *space, uint64_t from, size_t steps, struct rng *rng) {
	while (steps-- > 0) {
		around_list(around, space, from, rng);
		if (around->count == 0)
			break;
		from = around->index[0];
	}
	return from;
}

double outcome_log(const struct strategy_outcome *outcome) {
	return outcome && outcome->result == STRATEGY_VALUE ? log(outcome->value) : INFINITY;
}
