/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Valid configurations near a wish, which may be invalid, fractional or inconsistent, as crossover makes them. This is
 * quick where space_near is thorough: it walks down the diagram once and keeps the best few prefixes of configurations
 * (beam search: Lowerre, The Harpy speech recognition system, 1976). Each prefix in the diagram can be completed, so
 * that the walk always finds something. */
#ifndef TUNER_SPACE_NEAREST_H
#define TUNER_SPACE_NEAREST_H
#include "tuner/space/space.h"

enum { SPACE_NEAREST_MAX = 32 };

/* wish: the level of each parameter; NAN: no preference (the middle; of words the first). Sorts by the number of
 * changes, then by the distance in shares of each parameter's range. Gives at most `max` and SPACE_NEAREST_MAX, at
 * least one, without duplicates and in a fixed order. */
size_t space_nearest(const struct space *space, const double *wish, uint64_t *out, size_t max);
#endif
