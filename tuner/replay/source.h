/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded space as what was measured before in a like one. */
#ifndef TUNER_REPLAY_SOURCE_H
#define TUNER_REPLAY_SOURCE_H
#include "tuner/record/record.h"
#include "tuner/search/strategy.h"

/* The rows of `from` that `space` has too, by parameters' names and values. A parameter that only `from` has is left
 * out: of rows that are the same without it the best stays. What is made lives in the arena, and `name` outlives it. */
struct strategy_source replay_source(const struct record *from, const struct space *space, const char *name,
                                     struct arena *arena);

#endif
