/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line search along one parameter. A line has rays: a parameter of numbers has one up and one down from where it
 * stands, a parameter of words has one for each other word. A ray is followed while it gets better, or not worse than
 * noise would make it; once it has found something better, the opposite one is left out. */
#ifndef TUNER_STRATEGY_LINE_H
#define TUNER_STRATEGY_LINE_H
#include "tuner/strategy/strategy.h"

struct line;
struct line *line_new(struct arena *arena, const struct space *space);
/* From a configuration and its value (INFINITY: it does not work). The rng shuffles the rays. */
void line_begin(struct line *line, size_t param, uint64_t from, double value, struct rng *rng);
/* The index to look at next, perhaps a known one; the same until line_tell. UINT64_MAX: the line is done. */
uint64_t line_next(struct line *line);
/* The value of that index. True where it is the best of the line so far. */
bool line_tell(struct line *line, double value);

#endif
