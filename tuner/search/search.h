/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy at work. The search owns the strategy's state and the history, and keeps the strategy honest: no index
 * twice, and none that is invalid. If the strategy gives up early, the search continues with random unseen
 * configurations until the space is used up. */
#ifndef TUNER_SEARCH_SEARCH_H
#define TUNER_SEARCH_SEARCH_H

#include "tuner/search/strategy.h"

struct search;
/* The search brings its own history and arena; everything else in the task belongs to the caller and must outlive it.
 */
struct search *search_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err);
void search_free(struct search *search);
/* Up to `want` unseen indexes, in the order in which they should be measured; 0: the space is used up. The same index
 * is never given twice unless it was withdrawn. */
size_t search_ask(struct search *search, uint64_t *out, size_t want);
/* Only the first outcome of a valid index counts. A value that is not finite or not above 0 is recorded as a failure.
 */
void search_tell(struct search *search, uint64_t index, const struct strategy_outcome *outcome);
void search_tell_value(struct search *search, uint64_t index, enum strategy_result result, double value);
/* A pool that builds ahead asks for as many configurations as it can build, builds them in this order, and tells
 * results in any order. After each result, search_rank sorts the pending ones by their expected usefulness now, and the
 * pool may stop building those behind the returned number, because the search no longer expects much of them. It
 * returns them with search_withdraw. (ADR 15 shows how much time this saves.) */
size_t search_rank(struct search *search, uint64_t *pending, size_t count);
/* The configuration will not be measured for now; the search may ask for it again. */
void search_withdraw(struct search *search, uint64_t index);
/* The seconds after which a build should be given up or put last, which is 10 times the median of those so far.
 * INFINITY: too few builds are known. */
double search_patience(const struct search *search);
const struct history *search_history(const struct search *search);
const char *search_phase(const struct search *search); /* NULL: the strategy does not describe itself */
/* A strategy of the user's own that cannot go on ends the search. */
int search_fault(const struct search *search, struct err *err);
double search_promise(const struct search *search, uint64_t left); /* NAN: the strategy cannot estimate it */
/* Is it likely that `left` more evaluations gain less than this (0.01 is 1 %)? Never if `gain` is 0, or if nobody
 * knows. */
bool search_hopeless(const struct search *search, double gain, uint64_t left);

/* Which configuration is the best if values are noisy and no comparison follows? The smallest of many noisy values is
 * usually a lucky one. The last evaluations of a budget therefore repeat the leaders, as long as it is not clear who
 * leads: either the leader or its closest challenger, whichever was measured less (top-two sampling: Russo, Simple
 * Bayesian algorithms for best arm identification, 2016, with the challenger of Shang et al., Fixed-confidence
 * guarantees for Bayesian best-arm identification, 2020). doc/lab/search.md has what that gains. */

struct leaders;
struct leaders *leaders_new(void);
void leaders_free(struct leaders *leaders);
/* Adds a measurement, > 0; smaller is better. All of a configuration count by their geometric mean. */
void leaders_note(struct leaders *leaders, uint64_t index, double value);
/* Takes into account what the search expects of each. */
void leaders_inform(struct leaders *leaders, struct search *search);
/* Which one should be measured again; false: it is clear who leads, or there are not two. */
bool leaders_again(const struct leaders *leaders, uint64_t *index);

struct leader {
	uint64_t index; /* UINT64_MAX: nothing was measured */
	double value;   /* geometric mean of its measurements; NAN: there are none */
	size_t times;
};
/* The least value, or where repeats have shown the noise, the least upper end of an interval of one deviation. */
struct leader leaders_best(const struct leaders *leaders);
/* The deviation of the logarithm of one measurement, from the repeats; NAN: there were none. */
double leaders_noise(const struct leaders *leaders);
#endif
