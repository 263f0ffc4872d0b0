/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where to begin: a handful of places is sampled, and the best of all sampled that nobody has begun at is next, as in
 * the multi level methods of Rinnooy Kan and Timmer (Stochastic global optimization methods, part II, 1987), where a
 * sample is drawn before local searches begin at its best points. First come the baseline and what the machine
 * suggests; what is the best so far without having been begun at, say of earlier results, goes before all. */
#ifndef TUNER_STRATEGY_STARTS_H
#define TUNER_STRATEGY_STARTS_H
#include "tuner/strategy/descent.h"

struct starts;
struct starts *starts_new(const struct strategy_task *task, struct rng *rng);
/* STEP_DONE: begin at *index. STEP_ASK: measure it first. STEP_WAIT: nothing is left to sample, and nothing known. */
enum step starts_next(struct starts *starts, uint64_t *index);
/* Nobody needs to begin here any more. */
void starts_visited(struct starts *starts, uint64_t index);

#endif
