/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uses a recorded space as earlier results for a similar space. */
#ifndef TUNER_REPLAY_SOURCE_H
#define TUNER_REPLAY_SOURCE_H
#include "tuner/record/record.h"
#include "tuner/search/strategy.h"

/* The rows of `from` that `space` has as well, matched by the names and values of their parameters. A parameter that
 * only `from` has is dropped, and the best of the rows that become equal stays. The result lives in the arena; `name`
 * must outlive it. */
struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena);

#endif
