/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The neighbours of a configuration in random order, with near values more likely to come first. */
#ifndef TUNER_STRATEGY_AROUND_H
#define TUNER_STRATEGY_AROUND_H
#include "tuner/search/strategy.h"

struct around {
	uint64_t *index;
	size_t count;
	struct around_rank *rank;
};
void around_init(struct around *around, struct arena *arena);
void around_list(struct around *around, const struct space *space, uint64_t from, struct rng *rng);
/* The end of a random walk of so many steps; `from` itself if it has no neighbours. Overwrites the list. */
uint64_t around_walk(struct around *around, const struct space *space, uint64_t from, size_t steps, struct rng *rng);

/* Logarithm of the objective; INFINITY if it was not measured, failed, or was cut short, because a limit does not say
 * enough to move there. */
double outcome_log(const struct strategy_outcome *outcome);

#endif
