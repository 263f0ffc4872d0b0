/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy at work: owns its state and the history, keeps it honest (no repeats, no invalid indexes) and, should it
 * give up early, goes on with unseen configurations at random until the space is used up. */
#ifndef TUNER_SEARCH_SEARCH_H
#define TUNER_SEARCH_SEARCH_H
#include "tuner/search/strategy.h"

struct search;
/* The task's history and arena are the search's own; all else is the caller's and outlives the search. */
struct search *search_new(const struct strategy *strategy, const struct strategy_task *task, struct err *err);
void search_free(struct search *search);
/* Up to `want` unseen indexes; 0: the space is used up. The same index is never given twice. */
size_t search_ask(struct search *search, uint64_t *out, size_t want);
/* Only the first outcome of a valid index counts; a value that is no time (not finite, not over 0) is a failure. */
void search_tell(struct search *search, uint64_t index, const struct strategy_outcome *outcome);
void search_tell_value(struct search *search, uint64_t index, enum strategy_result result, double value);
const struct history *search_history(const struct search *search);
const char *search_phase(const struct search *search); /* NULL: nothing to say */

double search_promise(const struct search *search, uint64_t left); /* NAN: the strategy can't tell */

#endif
