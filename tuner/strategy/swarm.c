/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Particle swarm: Kennedy and Eberhart, Particle swarm optimization, 1995, with the constriction of Clerc and Kennedy,
 * The particle swarm - explosion, stability, and convergence, 2002, section VI. A particle's position is a vector of
 * places, not whole; what is measured is the valid configuration nearest to it. Words have no velocity: a particle
 * keeps its own, or takes that of its best or of the swarm's.
 *
 * A particle passes through what is known without an evaluation; one that finds nothing new is thrown a few steps off.
 */
#include <config.h>

#include <math.h>

#include "tuner/strategy/level.h"

enum { PARTICLES = 6, MOVES = 8, PATIENCE = 60, LOST = 20 };
static const double INERTIA = 0.6, PULL = 1.494;       /* damped a little more than by constriction */
static const double TAKE_COMMON = 0.4, TAKE_OWN = 0.3; /* chances of a word */

struct particle {
	double *at, *velocity;
	uint64_t best, pending; /* UINT64_MAX: none */
	double value;           /* of its best; INFINITY: none */
	size_t vain;
};

struct swarm {
	struct strategy_task task;
	struct rng rng;
	struct place *place;
	struct particle particles[PARTICLES];
	size_t turn, vain; /* vain: told since its best got better */
	double *own, *common;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct swarm *swarm = state;
	size_t params = space_params(task->space);
	(void)err;
	swarm->task = *task;
	swarm->place = place_new(task);
	swarm->own = arena_alloc(task->arena, params, sizeof(double));
	swarm->common = arena_alloc(task->arena, params, sizeof(double));
	for (size_t i = 0; i < PARTICLES; i++) {
		swarm->particles[i] = (struct particle){.best = UINT64_MAX, .pending = UINT64_MAX, .value = INFINITY};
		swarm->particles[i].at = arena_alloc(task->arena, params, sizeof(double));
		swarm->particles[i].velocity = arena_alloc(task->arena, params, sizeof(double));
	}
	rng_split(&swarm->rng, task->seed, "strategy swarm");
	return 0;
}

static const struct particle *leader(const struct swarm *swarm) {
	const struct particle *leader = &swarm->particles[0];
	for (size_t i = 1; i < PARTICLES; i++)
		if (swarm->particles[i].value < leader->value)
			leader = &swarm->particles[i];
	return leader;
}

static void move_word(struct swarm *swarm, struct particle *particle, size_t p) {
	double chance = rng_unit(&swarm->rng);
	if (chance < TAKE_COMMON)
		particle->at[p] = swarm->common[p];
	else if (chance < TAKE_COMMON + TAKE_OWN)
		particle->at[p] = swarm->own[p];
}

static void move_number(struct swarm *swarm, struct particle *particle, size_t p) {
	double last = (double)space_param_values(swarm->task.space, p) - 1;
	double own = swarm->own[p] - particle->at[p], common = swarm->common[p] - particle->at[p];
	double speed =
		INERTIA * particle->velocity[p] + PULL * rng_unit(&swarm->rng) * own + PULL * rng_unit(&swarm->rng) * common;
	particle->velocity[p] = fmin(fmax(speed, -last / 2), last / 2);
	particle->at[p] += particle->velocity[p];
	if (particle->at[p] < 0 || particle->at[p] > last) {
		particle->at[p] = fmin(fmax(particle->at[p], 0), last);
		particle->velocity[p] *= -0.5;
	}
}

static void move(struct swarm *swarm, struct particle *particle) {
	place_vector(swarm->place, particle->best, swarm->own);
	place_vector(swarm->place, leader(swarm)->best, swarm->common);
	for (size_t p = 0; p < space_params(swarm->task.space); p++) {
		if (isnan(particle->at[p]) || isnan(swarm->own[p]) || isnan(swarm->common[p])) {
			particle->at[p] = isnan(swarm->common[p]) ? swarm->own[p] : swarm->common[p];
			particle->velocity[p] = 0;
		} else if (space_param_ordered(swarm->task.space, p)) {
			move_number(swarm, particle, p);
		} else {
			move_word(swarm, particle, p);
		}
	}
}

static void learn(struct swarm *swarm, struct particle *particle, uint64_t index, double value) {
	particle->vain++;
	if (!(value < particle->value))
		return;
	if (value < leader(swarm)->value)
		swarm->vain = 0;
	particle->best = index;
	particle->value = value;
	particle->vain = 0;
}

static uint64_t fly(struct swarm *swarm, struct particle *particle) {
	const struct history *history = swarm->task.history;
	for (int i = 0; i < MOVES; i++) {
		move(swarm, particle);
		uint64_t index = place_nearest(swarm->place, particle->at);
		const struct strategy_outcome *known = history_find(history, index);
		if (known)
			learn(swarm, particle, index, place_value(known));
		else if (!history_taken(history, index))
			return index;
	}
	place_mutate(swarm->place, particle->at, 1, &swarm->rng);
	return place_unseen(swarm->place, particle->at, &swarm->rng);
}

static uint64_t begin(struct swarm *swarm, struct particle *particle) {
	uint64_t index = place_first(swarm->place, &swarm->rng);
	if (index == UINT64_MAX)
		return index;
	particle->best = UINT64_MAX;
	particle->value = INFINITY;
	particle->vain = 0;
	place_vector(swarm->place, index, particle->at);
	for (size_t p = 0; p < space_params(swarm->task.space); p++)
		particle->velocity[p] = 0;
	return index;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct swarm *swarm = state;
	(void)want;
	struct particle *particle = &swarm->particles[swarm->turn++ % PARTICLES];
	if (swarm->vain >= PATIENCE) {
		for (size_t i = 0; i < PARTICLES; i++)
			swarm->particles[i].value = INFINITY;
		swarm->vain = 0;
	}
	if (isinf(particle->value) || (particle->vain >= LOST && particle != leader(swarm)))
		*out = begin(swarm, particle);
	else
		*out = fly(swarm, particle);
	particle->pending = *out;
	return *out != UINT64_MAX;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct swarm *swarm = state;
	struct particle *slowest = &swarm->particles[0];
	double value = place_value(outcome);
	swarm->vain++;
	for (size_t i = 0; i < PARTICLES; i++) {
		struct particle *particle = &swarm->particles[i];
		if (particle->pending == index) {
			particle->pending = UINT64_MAX;
			learn(swarm, particle, index, value);
			return;
		}
		if (particle->value > slowest->value)
			slowest = particle;
	}
	if (value < slowest->value) {
		place_vector(swarm->place, index, slowest->at);
		learn(swarm, slowest, index, value);
	}
}

static const char *phase(const void *state) {
	const struct swarm *swarm = state;
	return isinf(leader(swarm)->value) ? "swarm: a new swarm" : "swarm: particles on their way";
}

const struct strategy strategy_swarm = {
	.name = "swarm",
	.summary = "particle swarm: each is drawn to its own best and the swarm's",
	.state_size = sizeof(struct swarm),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
