/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations as vectors of levels, for population searches: how they begin, mutations, and the way from a vector
 * back to a valid configuration that is not taken. */
#ifndef TUNER_STRATEGY_LEVELS_H
#define TUNER_STRATEGY_LEVELS_H
#include "tuner/search/strategy.h"

struct levels;
struct levels *levels_new(const struct strategy_task *task);

/* A value to compare by: a trial that was cut short counts as somewhat slower than its limit, a failure as INFINITY. */
double levels_value(const struct strategy_outcome *outcome);
/* The levels of a configuration; NAN where a parameter is absent. */
void levels_vector(const struct levels *levels, uint64_t index, double *vector);
/* The valid configuration nearest to the vector, whether it is taken or not. */
uint64_t levels_nearest(const struct levels *levels, const double *vector);
/* The nearest configuration that is not taken, or a random one if all near ones are. UINT64_MAX: the space is used up.
 */
uint64_t levels_unseen(const struct levels *levels, const double *vector, struct rng *rng);
/* A configuration to begin with: the baseline, hints, then random ones. UINT64_MAX: the space is used up. */
uint64_t levels_first(struct levels *levels, struct rng *rng);
/* Moves each parameter that has a choice with the same probability, `count` of them on average and at least one:
 * numbers mostly by one level, words to any other. */
void levels_mutate(const struct levels *levels, double *vector, double count, struct rng *rng);

#endif
