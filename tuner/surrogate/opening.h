/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The opening of `auto` when there is a baseline and nothing else to go by: for one parameter after the other it tries
 * every other word around the best so far (exploratory moves: Hooke, Jeeves, "Direct search" solution of numerical and
 * statistical problems, 1961). A word can change everything, and the results of some words say nothing about the
 * others; numbers are left to the model. It goes from the last parameter to the first, because a kernel's own
 * parameters come after those of the machine, but a parameter that decides whether another one exists goes before it.
 */
#ifndef TUNER_SURROGATE_OPENING_H
#define TUNER_SURROGATE_OPENING_H
#include "tuner/search/strategy.h"

struct opening;
/* Allocated in task->arena. */
struct opening *opening_new(const struct strategy_task *task);
/* The next configuration to be measured; UINT64_MAX: the opening is over. */
uint64_t opening_ask(struct opening *opening);
void opening_report(struct opening *opening, uint64_t index, const struct strategy_outcome *outcome);
/* Writes "other words of variant around the best so far, ..". */
void opening_describe(const struct opening *opening, char *text, size_t size);

#endif
