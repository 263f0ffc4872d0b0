/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy at work. The search owns the strategy's state and the history, and keeps the strategy honest: no index
 * twice, and none that is invalid. If the strategy gives up early, the search goes on with random unseen configurations
 * until the space is used up. */
#ifndef TUNER_SEARCH_SEARCH_H
#define TUNER_SEARCH_SEARCH_H
#include "tuner/search/strategy.h"

struct search;
/* The search brings its own history and arena; everything else in the task belongs to the caller and must outlive it.
 */
struct search *search_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err);
void search_free(struct search *search);
/* Up to `want` unseen indexes; 0: the space is used up. The same index is never given twice. */
size_t search_ask(struct search *search, uint64_t *out, size_t want);
/* Only the first outcome of a valid index counts. A value that is not finite or not above 0 is recorded as a failure.
 */
void search_tell(struct search *search, uint64_t index, const struct strategy_outcome *outcome);
void search_tell_value(struct search *search, uint64_t index, enum strategy_result result, double value);
const struct history *search_history(const struct search *search);
const char *search_phase(const struct search *search); /* NULL: the strategy does not describe itself */

double search_promise(const struct search *search, uint64_t left); /* NAN: the strategy cannot estimate it */

#endif
