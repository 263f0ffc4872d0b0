/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differential evolution: Storn and Price, Differential evolution - a simple and efficient heuristic for global
 * optimization over continuous spaces, 1997, section 2; the base of a difference is one of the best few
 * (current-to-pbest: Zhang and Sanderson, JADE, 2009, section III), its weight changes from trial to trial (dither:
 * Das, Konar, Chakraborty 2005). Vectors are places; words have no differences, they are taken or left.
 *
 * A trial competes with its target when its outcome comes, and where it loses, with the worst, since evaluations are
 * few; known outcomes compete with the target at once. */
#include <config.h>

#include <math.h>

#include "tuner/strategy/level.h"

enum { AGENTS = 8, AGENTS_MIN = 4, ELITE = 2, TRIES = 8, PATIENCE = 60 };
static const double WEIGHT_MIN = 0.2, WEIGHT_MAX = 0.8, CROSSED = 0.7;

struct agent {
	uint64_t index, trial; /* UINT64_MAX: none on its way */
	double value;
};

struct diffevo {
	struct strategy_task task;
	struct rng rng;
	struct place *place;
	struct agent agents[AGENTS];
	size_t count, begun, target, vain; /* agents; asked for to begin with; whose turn; told since one got better */
	bool fresh;                        /* asked for a random one last */
	double *trial, *base, *plus, *minus;
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct diffevo *evo = state;
	double **vectors[] = {&evo->trial, &evo->base, &evo->plus, &evo->minus};
	(void)err;
	evo->task = *task;
	evo->place = place_new(task);
	for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
		*vectors[i] = arena_alloc(task->arena, space_params(task->space), sizeof(double));
	rng_split(&evo->rng, task->seed, "strategy diffevo");
	return 0;
}

static size_t worst(const struct diffevo *evo) {
	size_t at = 0;
	for (size_t i = 1; i < evo->count; i++)
		if (evo->agents[i].value > evo->agents[at].value)
			at = i;
	return at;
}

static bool member(const struct diffevo *evo, uint64_t index) {
	for (size_t i = 0; i < evo->count; i++)
		if (evo->agents[i].index == index)
			return true;
	return false;
}

static void replace(struct diffevo *evo, struct agent *agent, uint64_t index, double value) {
	if (!(value < agent->value) || member(evo, index))
		return;
	agent->index = index;
	agent->value = value;
	evo->vain = 0;
}

/* One of the best. */
static size_t elite(struct diffevo *evo) {
	size_t rank = rng_below(&evo->rng, ELITE), at = 0;
	for (size_t i = 0; i < evo->count; i++) {
		size_t better = 0;
		for (size_t j = 0; j < evo->count; j++)
			better +=
				evo->agents[j].value < evo->agents[i].value || (evo->agents[j].value == evo->agents[i].value && j < i);
		if (better == rank)
			at = i;
	}
	return at;
}

static double reflect(double place, double last) {
	if (place < 0)
		place = -place;
	if (place > last)
		place = 2 * last - place;
	return fmin(fmax(place, 0), last);
}

static double mutant(struct diffevo *evo, size_t p, double weight) {
	double base = evo->base[p], plus = evo->plus[p], minus = evo->minus[p];
	if (isnan(base) || isnan(plus) || isnan(minus))
		return isnan(base) ? plus : base;
	if (!space_param_ordered(evo->task.space, p))
		return plus != minus && rng_unit(&evo->rng) < weight ? plus : base;
	double last = (double)space_param_values(evo->task.space, p) - 1;
	return reflect(base + weight * (plus - minus), last);
}

/* best/1/bin: a difference added to one of the best, crossed with the target. */
static void difference(struct diffevo *evo, const struct agent *target) {
	size_t base = elite(evo), params = space_params(evo->task.space), plus, minus;
	do
		plus = rng_below(&evo->rng, evo->count);
	while (plus == base);
	do
		minus = rng_below(&evo->rng, evo->count);
	while (minus == base || minus == plus);
	place_vector(evo->place, target->index, evo->trial);
	place_vector(evo->place, evo->agents[base].index, evo->base);
	place_vector(evo->place, evo->agents[plus].index, evo->plus);
	place_vector(evo->place, evo->agents[minus].index, evo->minus);
	double weight = WEIGHT_MIN + (WEIGHT_MAX - WEIGHT_MIN) * rng_unit(&evo->rng);
	size_t sure = rng_below(&evo->rng, params);
	for (size_t p = 0; p < params; p++)
		if (p == sure || isnan(evo->trial[p]) || rng_unit(&evo->rng) < CROSSED)
			evo->trial[p] = mutant(evo, p, weight);
}

static uint64_t evolve(struct diffevo *evo) {
	struct agent *target = &evo->agents[evo->target++ % evo->count];
	for (int i = 0; i < TRIES; i++) {
		difference(evo, target);
		uint64_t index = place_nearest(evo->place, evo->trial);
		const struct strategy_outcome *known = history_find(evo->task.history, index);
		if (known)
			replace(evo, target, index, place_value(known));
		else if (!history_taken(evo->task.history, index))
			return target->trial = index;
	}
	place_mutate(evo->place, evo->trial, 1, &evo->rng);
	return target->trial = place_unseen(evo->place, evo->trial, &evo->rng);
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct diffevo *evo = state;
	(void)want;
	if (evo->vain >= PATIENCE)
		evo->count = evo->begun = evo->vain = 0;
	evo->fresh = evo->count < AGENTS_MIN || (evo->begun < AGENTS && evo->count < AGENTS);
	*out = evo->fresh ? place_first(evo->place, &evo->rng) : evolve(evo);
	evo->begun++;
	return *out != UINT64_MAX;
}

/* Whom an outcome competes with: its target, if it wins there, else the worst. */
static struct agent *rival(struct diffevo *evo, uint64_t index, double value) {
	for (size_t i = 0; i < evo->count; i++) {
		struct agent *target = &evo->agents[i];
		if (target->trial != index)
			continue;
		target->trial = UINT64_MAX;
		if (value < target->value)
			return target;
	}
	return &evo->agents[worst(evo)];
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	struct diffevo *evo = state;
	double value = place_value(outcome);
	evo->vain++;
	if (isinf(value))
		return;
	if (evo->count < AGENTS)
		evo->agents[evo->count++] = (struct agent){index, UINT64_MAX, value};
	else
		replace(evo, rival(evo, index, value), index, value);
}

static const char *phase(const void *state) {
	const struct diffevo *evo = state;
	return evo->fresh ? "diffevo: a new population" : "diffevo: differences of the population";
}

const struct strategy strategy_diffevo = {
	.name = "diffevo",
	.summary = "differential evolution: differences between configurations, added to good ones",
	.state_size = sizeof(struct diffevo),
	.init = init,
	.ask = ask,
	.tell = tell,
	.phase = phase,
};
