/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What population searches share: configurations as vectors of places, how they begin, steps, and the way back from a
 * vector to a valid configuration that is not taken. */
#ifndef TUNER_STRATEGY_LEVEL_H
#define TUNER_STRATEGY_LEVEL_H
#include "tuner/search/strategy.h"

struct place;
struct place *place_new(const struct strategy_task *task);

/* For comparison: what was cut short counts as somewhat slower than its bound, a failure is INFINITY. */
double place_value(const struct strategy_outcome *outcome);
/* The places of a configuration, NAN where a parameter is absent. */
void place_vector(const struct place *place, uint64_t index, double *vector);
/* The valid configuration nearest to the vector, taken or not. */
uint64_t place_nearest(const struct place *place, const double *vector);
/* The nearest not taken; any other that is not where those are all taken. UINT64_MAX: the space is used up. */
uint64_t place_unseen(const struct place *place, const double *vector, struct rng *rng);
/* To begin with: the baseline, hints, then random ones. UINT64_MAX: the space is used up. */
uint64_t place_first(struct place *place, struct rng *rng);
/* Moves a parameter: numbers a few places, mostly one, words anywhere else. */
void place_step(const struct place *place, double *vector, size_t param, struct rng *rng);
/* Each parameter that has a choice with the same chance, `count` of them on average, at least one. */
void place_mutate(const struct place *place, double *vector, double count, struct rng *rng);

#endif
