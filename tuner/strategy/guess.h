/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a configuration not measured yet may cost, judged by those that were: a Gaussian process (Rasmussen and Williams
 * 2006, algorithm 2.1) over the logarithms of the objective.
 *
 * The covariance is a product over parameters, each factor 1 plus a share of its own where the two configurations are
 * alike in it: main effects and interactions of every order, where parameters of large effect interact most (ANOVA
 * kernels: Durrande, Ginsbourger, Roustant, Carraro 2013). Equal values are alike, numbers the less the farther apart
 * they are, different words not at all, nor a value and its absence. Shares are fitted by maximum posterior, up and
 * down a ladder. A trial cut short or failed counts as a slow one.
 *
 * It remembers a bounded number of outcomes: when that is reached, the slowest goes. */
#ifndef TUNER_STRATEGY_GUESS_H
#define TUNER_STRATEGY_GUESS_H
#include "tuner/strategy/strategy.h"

struct guess;
struct guess *guess_new(struct arena *arena, const struct space *space);
void guess_add(struct guess *guess, uint64_t index, const struct strategy_outcome *outcome);
/* After guess_add and before guess_gain. */
void guess_fit(struct guess *guess);
/* Expected improvement over the best so far (Jones, Schonlau, Welch 1998), in the logarithm of the objective; >= 0. It
 * gives up, with 0, as soon as that is known to be under `floor`. */
double guess_gain(struct guess *guess, uint64_t index, double floor);

#endif
