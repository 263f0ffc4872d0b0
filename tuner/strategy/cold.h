/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search as it would be without earlier searches, beside the one that learns from them: sources can mislead, and a
 * model that starts at their best explores too little to notice. The cold search is told only what it asked for and
 * what nobody asked for (the baseline), so that it takes the steps that it would take alone, if with the
 * lengths of the sources' models (strategy_task.lengths); a configuration that was measured already costs it nothing.
 * Bad sources therefore cost no more evaluations than the informed search has turns: a few at first, a few more for
 * each improvement that it finds, and then one of many (ADR 9). */
#ifndef TUNER_STRATEGY_COLD_H
#define TUNER_STRATEGY_COLD_H
#include "tuner/search/strategy.h"

struct cold;
/* Allocated in task->arena. `strategy` must accept a task without sources. NULL with err: it failed to begin. */
struct cold *cold_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err);
/* The cold search's proposal if it is its turn and not UINT64_MAX; otherwise the informed search proposes. */
uint64_t cold_ask(struct cold *cold);
/* The informed search asked for this configuration. */
void cold_await(struct cold *cold, uint64_t index);
/* `sources`: the informed search still uses some, for otherwise its improvements do not speak for them. */
void cold_report(struct cold *cold, uint64_t index, const struct strategy_outcome *outcome, bool sources);

#endif
