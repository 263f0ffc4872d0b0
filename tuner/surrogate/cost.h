/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predicts the cost of an evaluation in seconds of wall clock from the evaluations so far: of the build and of the rest
 * the mean logarithm of the seconds and an effect of each value of each parameter, additive and shrunk. (Unrolling
 * costs time to compile, small blocks cost time to run.) If the budget is a time, a gain is divided by its cost (Snoek,
 * Larochelle, Adams, Practical Bayesian optimization of machine learning algorithms, 2012, section 3.2), the less the
 * more of the budget is used, so that cheap configurations come first and the best ones last (Lee, Perrone, Archambeau,
 * Seeger, Cost-aware Bayesian optimization, 2020). */
#ifndef TUNER_SURROGATE_COST_H
#define TUNER_SURROGATE_COST_H
#include "tuner/surrogate/coding.h"

struct cost;
/* Covers the dimensions that the coding has now; allocated in the task's arena, which must outlive it as the coding
 * must. NULL, which all functions below accept, if the budget is a number of evaluations, because costs do not matter
 * then. */
struct cost *cost_new(const struct strategy_task *task, const struct coding *coding);
void cost_report(struct cost *cost, uint64_t index, const struct strategy_outcome *outcome);
/* The power of the seconds by which a gain is divided now: 0 while costs are alike or unpredictable, at most 1. */
double cost_power(const struct cost *cost);
/* The logarithm of a configuration's cost relative to the mean. */
double cost_predict(const struct cost *cost, const uint16_t *codes);

/* The factor by which a gain shrinks when it is divided by the seconds to this power. It is almost 0 if building is
 * expected to take over 10 times as long as usual, so that such configurations come last. */
double cost_share(const struct cost *cost, double power, const uint16_t *codes);

#endif
