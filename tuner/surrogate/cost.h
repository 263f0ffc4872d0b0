/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What evaluating a configuration takes, compiling and all, learned from those that were evaluated: the mean logarithm
 * of the seconds and an effect of each value of each parameter, additive and shrunk. Where seconds are the budget, a
 * gain is worth what it is a second (Snoek, Larochelle, Adams, Practical Bayesian optimization of machine learning
 * algorithms, 2012, section 3.2), less so as the budget goes by: what is cheap comes first, what is best last (Lee,
 * Perrone, Archambeau, Seeger, Cost-aware Bayesian optimization, 2020). */
#ifndef TUNER_SURROGATE_COST_H
#define TUNER_SURROGATE_COST_H
#include "tuner/surrogate/coding.h"

struct cost;
/* Over the dimensions that the coding has now, in the task's arena; both outlive it. NULL, which is fine below: the
 * budget is counted in evaluations, and nothing depends on their cost. */
struct cost *cost_new(const struct strategy_task *task, const struct coding *coding);
void cost_tell(struct cost *cost, uint64_t index, double seconds);
/* By which power of the seconds a gain is divided now: 0 while costs are alike or come as nothing foretold, at most 1.
 */
double cost_power(const struct cost *cost);
/* The logarithm of a configuration's seconds, relative to the mean. */
double cost_predict(const struct cost *cost, const uint16_t *codes);

#endif
