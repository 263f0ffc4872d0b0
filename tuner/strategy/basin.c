/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Basin hopping (Wales and Doye: Global optimization by basin-hopping, 1997, section 2): a walk over local minima of
 * the next values up and down. A hop is a few random steps and a descent, accepted by Metropolis' rule on the logarithm
 * of the objective. Steps are as long as it takes to leave a basin: one more whenever a hop came back, one less
 * whenever it led elsewhere. The temperature follows the differences between minima. */
#include <config.h>

#include <math.h>

#include "tuner/strategy/chains.h"

enum { STEPS_MIN = 1, STEPS_MAX = 6, PATIENCE = 6 };
static const double HEAT = 0.25; /* of the mean difference between minima */

struct basin {
	struct descent descent;
	uint64_t at, best;
	double value, best_value;
	double sum, weight; /* of differences between minima */
	size_t steps;
	unsigned vain;
};

static void chain_init(void *chain, struct chains *chains) {
	struct basin *basin = chain;
	basin->steps = STEPS_MIN;
	descent_init(&basin->descent, &chains->task, SPACE_ADJACENT, &chains->rng);
}

static void chain_begin(void *chain, uint64_t from) {
	struct basin *basin = chain;
	basin->value = basin->best_value = INFINITY;
	basin->best = basin->at = from;
	basin->vain = 0;
	descent_begin(&basin->descent, from);
}

static bool accepts(struct basin *basin, double value) {
	double worse = value - basin->value, draw = rng_unit(basin->descent.rng);
	if (!isfinite(value) || !isfinite(basin->value))
		return isfinite(value);
	if (worse != 0) {
		basin->sum += fabs(worse);
		basin->weight++;
	}
	return worse <= 0 || draw < exp(-worse * basin->weight / (HEAT * basin->sum));
}

static void land(struct basin *basin) {
	const struct descent *descent = &basin->descent;
	bool back = descent->at == basin->at, better = descent->value < basin->best_value;
	if (back && basin->steps < STEPS_MAX)
		basin->steps++;
	else if (!back && basin->steps > STEPS_MIN)
		basin->steps--;
	if (accepts(basin, descent->value)) {
		basin->at = descent->at;
		basin->value = descent->value;
	}
	if (better) {
		basin->best = descent->at;
		basin->best_value = descent->value;
	}
	basin->vain = better ? 0 : basin->vain + 1;
}

static enum step chain_next(void *chain, uint64_t *index) {
	struct basin *basin = chain;
	struct descent *descent = &basin->descent;
	enum step step;
	while ((step = descent_next(descent, index)) == STEP_DONE) {
		land(basin);
		if (basin->vain > PATIENCE)
			break;
		descent_begin(descent,
		              around_walk(&descent->around, descent->task->space, basin->at, basin->steps, descent->rng));
	}
	if (step == STEP_DONE)
		*index = basin->best;
	return step;
}

static const struct chain_kind kind = {
	.name = "basin",
	.doing = "hops from one local minimum to another",
	.size = sizeof(struct basin),
	.init = chain_init,
	.begin = chain_begin,
	.next = chain_next,
};

static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)err;
	chains_init(state, task, &kind);
	return 0;
}

const struct strategy strategy_basin = {
	.name = "basin",
	.summary = "basin hopping: a walk over local minima",
	.state_size = sizeof(struct chains),
	.init = init,
	.ask = chains_ask,
	.tell = chains_tell,
	.phase = chains_phase,
};
