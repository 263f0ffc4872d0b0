/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Surrogate model: predicts configurations that were not measured. One Gaussian process models the logarithm of the
 * objective, another one and a regression whether a configuration works (chance.c). A proposal maximises the expected
 * improvement (Jones, Schonlau, Welch, Efficient global optimization of expensive black-box functions, 1998, section
 * 4.1) over the lowest mean at a measured configuration, times the chance that it works. ADR 9 has the reasons.
 *
 * Targets are relative to the best; beyond the median they are compressed, so that the model spends its capacity on
 * fast configurations. Deviations are stretched by the leave-one-out errors, in which good configurations weigh most. A
 * trial that was cut short counts as what the model expects above its limit (the mean of the truncated normal
 * distribution). A pending configuration counts as measured with its mean, which the next one has to improve on
 * (Ginsbourger, Le Riche, Carraro, Kriging is well-suited to parallelize optimization, 2010, "Kriging believer"), so
 * that a batch does not crowd in one place. All configurations of a space of up to POOL_WHOLE are candidates; of larger
 * ones a uniform sample and the surroundings of the best. */
#ifndef TUNER_SURROGATE_SURROGATE_H
#define TUNER_SURROGATE_SURROGATE_H
#include "tuner/search/strategy.h"

struct surrogate;
/* Allocated in task->arena. With `transfer`, each of the task's sources adds a dimension and a trend with the
 * prediction of its own model. */
struct surrogate *surrogate_new(const struct strategy_task *task, bool transfer);
void surrogate_report(struct surrogate *surrogate, uint64_t index, const struct strategy_outcome *outcome);
/* Tells that a configuration will be measured. own: the model asked for it, in surrogate_ask. */
void surrogate_await(struct surrogate *surrogate, uint64_t index, bool own);
void surrogate_withdraw(struct surrogate *surrogate, uint64_t index); /* it will not be */
/* See strategy.rank. Only what the model asked for itself is ever not worth measuring. */
size_t surrogate_rank(struct surrogate *surrogate, uint64_t *pending, size_t count);
/* Will it probably fail? See chance.c; as strategy_task.doubts. */
bool surrogate_doubts(const void *surrogate, uint64_t index);
/* Are there enough results for a model? */
bool surrogate_ready(const struct surrogate *surrogate);
/* The most promising configuration that is not taken; UINT64_MAX: there is none. */
uint64_t surrogate_ask(struct surrogate *surrogate);

/* A configuration to begin with: the sources' best on average first, then the middle of the space, then random ones
 * that are far from all others. */
uint64_t surrogate_first(struct surrogate *surrogate);
/* A configuration with as many values as possible that no other one has had (a Latin hypercube: McKay, Beckman,
 * Conover, 1979); UINT64_MAX: every value has been tried. */
uint64_t surrogate_unseen(struct surrogate *surrogate);

/* The expected gain (ratio - 1) of `left` more evaluations as of the last surrogate_ask; NAN before. */
double surrogate_promise(const struct surrogate *surrogate, uint64_t left);
/* See strategy.expects. */
bool surrogate_expects(struct surrogate *surrogate, uint64_t index, double *mean, double *variance);
/* The number of earlier searches that the model uses. */
size_t surrogate_sources(const struct surrogate *surrogate);
/* The lengths that a search of the same space may expect (strategy_task.lengths) without learning anything else from
 * the sources. To be called while there are sources. */
const double *surrogate_lengths(const struct surrogate *surrogate, size_t *count);
/* The number of fits so far. */
size_t surrogate_fits(const struct surrogate *surrogate);
/* Writes "leave-one-out predictions are off by 8.0 %; block_size_x and lock matter most". */
void surrogate_describe(const struct surrogate *surrogate, char *text, size_t size);

/* The opening of `auto` when there is a baseline and nothing else to go by: for one parameter after the other it tries
 * every other word around the best so far (exploratory moves: Hooke, Jeeves, "Direct search" solution of numerical and
 * statistical problems, 1961). A word can change everything, and the results of some words say nothing about the
 * others; numbers are left to the model. It goes from the last parameter to the first, because a kernel's own
 * parameters come after those of the machine, but a parameter that decides whether another one exists goes before it.
 */

struct opening;
/* Allocated in task->arena. */
struct opening *opening_new(const struct strategy_task *task);
/* The next configuration to be measured; UINT64_MAX: the opening is over. code: only for parameters that choose the
 * code that runs, such as the variant; they come first. */
uint64_t opening_ask(struct opening *opening, bool code);
/* Begins again around the best so far, with the values of all parameters but the one that has most of them. */
void opening_widen(struct opening *opening);
void opening_report(struct opening *opening, uint64_t index, const struct strategy_outcome *outcome);
/* Writes "other words of variant around the best so far, ..". */
void opening_describe(const struct opening *opening, char *text, size_t size);
#endif
