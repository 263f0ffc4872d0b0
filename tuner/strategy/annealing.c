/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Optimization by simulated annealing, 1983). The energy is the
 * logarithm of the objective, and the first temperature is proportional to the differences between neighbours seen so
 * far, so that the unit does not matter. The temperature falls with each neighbour judged, relative to the number of
 * neighbours; a chain that all neighbours refuse is frozen, and the next one starts hot. Known neighbours are judged
 * without an evaluation, but only for a few moves in a row, because a walk through known configurations finds nothing.
 */
#include <math.h>

#include "tuner/strategy/strategy_impl.h"

enum { FREE_MOVES_MAX = 8 };
static const double HEAT = 0.25; /* first temperature over the mean difference between neighbours */
static const double FROZEN = 5;  /* time constants */

struct annealing {
	struct chains *chains;
	uint64_t at, best;
	double value, best_value;
	size_t judged;      /* number of neighbours refused; they are the first of the list */
	size_t steps;       /* neighbours judged since the chain began */
	double sum, weight; /* sum and number of the differences seen */
	struct around around;
};

static void chain_init(void *chain, struct chains *chains) {
	struct annealing *annealing = chain;
	annealing->chains = chains;
	around_init(&annealing->around, chains->task.arena);
}

static void move(struct annealing *annealing, uint64_t to) {
	struct chains *chains = annealing->chains;
	annealing->at = to;
	annealing->value = outcome_log(history_find(chains->task.history, to));
	annealing->judged = 0;
	around_list(&annealing->around, chains->task.space, to, &chains->rng);
	if (annealing->value < annealing->best_value) {
		annealing->best_value = annealing->value;
		annealing->best = to;
	}
}

static void chain_begin(void *chain, uint64_t from) {
	struct annealing *annealing = chain;
	annealing->best_value = INFINITY;
	annealing->best = from;
	annealing->steps = 0;
	move(annealing, from);
}

static bool accepts(struct annealing *annealing, double value) {
	double worse = value - annealing->value, draw = rng_unit(&annealing->chains->rng);
	if (!isfinite(value))
		return false;
	if (isfinite(worse)) {
		annealing->sum += fabs(worse);
		annealing->weight++;
	}
	double cooled = (double)annealing->steps++ / (double)annealing->around.count;
	if (worse < 0 || cooled > FROZEN)
		return worse < 0;
	return draw < exp(-worse * annealing->weight / (HEAT * annealing->sum * exp(-cooled)));
}

/* Moves to the first known neighbour that is accepted; refused ones move to the front of the list. */
static bool moves(struct annealing *annealing) {
	const struct history *history = annealing->chains->task.history;
	uint64_t *index = annealing->around.index;
	for (size_t i = annealing->judged; i < annealing->around.count; i++) {
		const struct strategy_outcome *known = history_find(history, index[i]);
		uint64_t to = index[i];
		if (!known)
			continue;
		if (accepts(annealing, outcome_log(known))) {
			move(annealing, to);
			return true;
		}
		index[i] = index[annealing->judged];
		index[annealing->judged++] = to;
	}
	return false;
}

static enum step chain_next(void *chain, uint64_t *index) {
	struct annealing *annealing = chain;
	const struct history *history = annealing->chains->task.history;
	for (int i = 0; moves(annealing); i++)
		if (i == FREE_MOVES_MAX) {
			*index = annealing->best;
			return STEP_DONE;
		}
	for (size_t i = annealing->judged; i < annealing->around.count; i++)
		if (!history_taken(history, annealing->around.index[i])) {
			*index = annealing->around.index[i];
			return STEP_ASK;
		}
	*index = annealing->best;
	return annealing->judged < annealing->around.count ? STEP_WAIT : STEP_DONE;
}

static const struct chain_kind kind = {
	.name = "annealing",
	.doing = "goes downhill, and uphill while it is hot",
	.size = sizeof(struct annealing),
	.init = chain_init,
	.begin = chain_begin,
	.next = chain_next,
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)err;
	chains_init(state, task, &kind);
	return 0;
}

const struct strategy strategy_annealing = {
	.name = "annealing",
	.summary = "simulated annealing on the logarithm of the objective",
	.state_size = sizeof(struct chains),
	.init = init,
	.ask = chains_ask,
	.tell = chains_tell,
	.phase = chains_phase,
};
