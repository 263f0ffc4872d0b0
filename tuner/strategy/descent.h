/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A greedy descent through neighbours, fed from the history alone: it is never told anything, so outcomes may come in any
 * order, late, never, or from elsewhere, and what is known costs nothing. It moves to the best neighbour known to be
 * better; as it asks for one at a time, that is the first one found (first improvement) unless a batch found several. */
#ifndef TUNER_STRATEGY_DESCENT_H
#define TUNER_STRATEGY_DESCENT_H
#include "tuner/strategy/strategy.h"

enum { DESCENT_NEAR_MAX = 1024 };

enum step {
	STEP_ASK,  /* measure this one */
	STEP_WAIT, /* all it could ask for is on its way */
	STEP_DONE  /* it stands in a local minimum */
};

struct descent;
struct descent *descent_new(const struct strategy_task *task, enum space_near kind, struct rng *rng);
/* From any valid configuration, measured or not. */
void descent_begin(struct descent *descent, uint64_t from);
enum step descent_next(struct descent *descent, uint64_t *index);
uint64_t descent_at(const struct descent *descent);
double descent_value(const struct descent *descent); /* see outcome_log; INFINITY as well while not measured */

/* Logarithm of the objective; INFINITY: not measured, failed, or cut short, which says too little to go there. */
double outcome_log(const struct strategy_outcome *outcome);

#endif
