/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search believes of the configurations that it has not measured: a Gaussian process over the logarithm of the
 * objective, and another over whether a configuration works. Proposes by expected improvement (Jones, Schonlau, Welch
 * 1998, section 4.1) over the lowest mean at a measured configuration, times the chance that it works.
 *
 * Targets are relative to the best; beyond the median they are drawn together, so that the model spends itself on what
 * is fast. Deviations are stretched by what the leave-one-out errors say, the good configurations' most. Trials cut
 * short count as what the model expects above their limit (the mean of the truncated normal); what is on its way counts
 * as measured with the mean (Ginsbourger, Le Riche, Carraro 2010, "Kriging believer"), so that a batch has no twins in
 * spirit either. Spaces of up to POOL_WHOLE configurations are looked at whole, larger ones by uniform samples and what
 * surrounds the best. */
#ifndef TUNER_SURROGATE_SURROGATE_H
#define TUNER_SURROGATE_SURROGATE_H
#include "tuner/search/strategy.h"

struct surrogate;
/* Lives in task->arena. With `transfer`, each of the task's sources is a dimension and a trend: its own model's opinion
 * of a configuration. */
struct surrogate *surrogate_new(const struct strategy_task *task, bool transfer);
void surrogate_tell(struct surrogate *surrogate, uint64_t index, const struct strategy_outcome *outcome);
/* It was asked for, by whomever, and is on its way. */
void surrogate_await(struct surrogate *surrogate, uint64_t index);
/* Is there enough to go by? */
bool surrogate_ready(const struct surrogate *surrogate);
/* The most promising that is not taken; UINT64_MAX: it knows none. */
uint64_t surrogate_ask(struct surrogate *surrogate);

/* To begin with: near the middle of the space, then the farthest from what there is, of random ones. What the sources
 * hold to be best comes first, where there are any. */
uint64_t surrogate_first(struct surrogate *surrogate);

/* As of the last surrogate_ask: expected gain (ratio - 1) of `left` more evaluations, NAN before. */
double surrogate_promise(const struct surrogate *surrogate, uint64_t left);
/* Goes up whenever the model was fitted anew. */
size_t surrogate_fits(const struct surrogate *surrogate);
/* "off by 8 % on those left out; block_size_x and lock matter most" */
void surrogate_say(const struct surrogate *surrogate, char *text, size_t size);

#endif
