/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How `auto` begins where there is a baseline and nothing else to go by: of one parameter after the other every other
 * word, around the best so far (exploratory moves: Hooke, Jeeves, "Direct search" solution of numerical and statistical
 * problems, 1961). A word can change everything and nothing tells one of the others; numbers are left to the model.
 * A kernel's own parameters come after those of the machine, so it goes from the last to the first, but what decides
 * whether a parameter exists comes before it. */
#ifndef TUNER_SURROGATE_OPENING_H
#define TUNER_SURROGATE_OPENING_H
#include "tuner/search/strategy.h"

struct opening;
/* Lives in task->arena. */
struct opening *opening_new(const struct strategy_task *task);
/* The next to be measured; UINT64_MAX: it is over. */
uint64_t opening_ask(struct opening *opening);
void opening_tell(struct opening *opening, uint64_t index, const struct strategy_outcome *outcome);
/* "other words of variant around the best so far, .." */
void opening_say(const struct opening *opening, char *text, size_t size);

#endif
