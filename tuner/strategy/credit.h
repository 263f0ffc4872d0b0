/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom to ask next: arms of a bandit, with the area under the curve of an arm's successes as its credit (Fialho,
 * Schoenauer, Sebag, Toward comparison-based adaptive operator selection, 2010, section 3; Ansel et al., OpenTuner: an
 * extensible framework for program autotuning, 2014, section 4.2): of the uses in a sliding window, later ones weigh
 * more. A success is an outcome among the best of the window, which, unlike a new best, is never rare for long. */
#ifndef TUNER_STRATEGY_CREDIT_H
#define TUNER_STRATEGY_CREDIT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"

struct credit;
struct credit *credit_new(struct arena *arena, size_t arms);
/* The arm with the largest sum of credit and bonus for having been used little; `arms` where all are idle. */
size_t credit_choose(const struct credit *credit, const bool *idle);
void credit_use(struct credit *credit, size_t arm, uint64_t index);
/* value: smaller is better, INFINITY: a failure. What no arm was asked for counts for none. */
void credit_tell(struct credit *credit, uint64_t index, double value);

#endif
