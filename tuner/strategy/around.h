/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What lies around a configuration, in random order, near values rather first. */
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
/* Where so many random steps lead; `from` itself where nothing is around. Overwrites the list. */
uint64_t around_walk(struct around *around, const struct space *space, uint64_t from, size_t steps, struct rng *rng);

/* Logarithm of the objective; INFINITY: not measured, failed, or cut short, which says too little to go there. */
double outcome_log(const struct strategy_outcome *outcome);

#endif
