/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A greedy descent through neighbours, fed from the history alone: it is never told anything, so outcomes may come in
 * any order, late, never, or from elsewhere, and what is known costs nothing. It moves to the best neighbour known to
 * be better; as it asks for one at a time, that is the first one found (first improvement) unless a batch found
 * several. */
#ifndef TUNER_STRATEGY_DESCENT_H
#define TUNER_STRATEGY_DESCENT_H
#include "tuner/strategy/around.h"

enum step {
	STEP_ASK,  /* measure this one */
	STEP_WAIT, /* all it could ask for is on its way */
	STEP_DONE  /* it stands in a local minimum */
};

struct descent {
	const struct strategy_task *task;
	struct rng *rng;
	uint64_t at;
	double value; /* see outcome_log */
	bool listed;  /* what is around `at` */
	struct around around;
};
void descent_init(struct descent *descent, const struct strategy_task *task, struct rng *rng);
/* From any valid configuration, measured or not. */
void descent_begin(struct descent *descent, uint64_t from);
enum step descent_next(struct descent *descent, uint64_t *index);

#endif
