/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starting points of chains: a handful of configurations is sampled, and a chain starts at the best of all samples that
 * was not used yet. This follows the multi level methods of Rinnooy Kan and Timmer (Stochastic global optimization
 * methods, part II, 1987), where a sample is drawn before local searches start at its best points. The baseline and the
 * machine's hints are sampled first; if the best result so far, for example of an earlier search, was not a starting
 * point yet, it goes before all samples. */
#ifndef TUNER_STRATEGY_STARTS_H
#define TUNER_STRATEGY_STARTS_H
#include "tuner/strategy/descent.h"

struct starts;
struct starts *starts_new(const struct strategy_task *task, struct rng *rng);
/* STEP_DONE: start at *index. STEP_ASK: measure it first. STEP_WAIT: nothing is left to sample, and nothing is known.
 */
enum step starts_next(struct starts *starts, uint64_t *index);
/* Marks a configuration that no chain needs to start from again. */
void starts_visited(struct starts *starts, uint64_t index);

#endif
