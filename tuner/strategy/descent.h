/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A greedy descent through neighbours. It reads the history instead of being told results, so that they may come in any
 * order, late, never, or from elsewhere, and known configurations cost nothing. It moves to the best neighbour that is
 * known to be better; as it asks for one at a time, this is the first improvement, unless a batch found several. */
#ifndef TUNER_STRATEGY_DESCENT_H
#define TUNER_STRATEGY_DESCENT_H
#include "tuner/strategy/around.h"

enum step {
	STEP_ASK,  /* measure this configuration */
	STEP_WAIT, /* everything it could ask for is being measured */
	STEP_DONE  /* it has reached a local minimum */
};

struct descent {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t at;
	double value; /* outcome_log of `at` */
	bool listed;  /* `around` has the neighbours of `at` */
	struct around around;
};
void descent_init(struct descent *descent, const struct strategy_task *task, struct rng *rng);
/* `from` is any valid configuration, measured or not. */
void descent_begin(struct descent *descent, uint64_t from);
enum step descent_next(struct descent *descent, uint64_t *index);

#endif
