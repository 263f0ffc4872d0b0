/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Valid configurations near a wished-for one that need not be valid, nor whole, nor consistent: what crossover, a
 * difference of vectors or a velocity lead to. Quick where space_near is thorough: one walk down the diagram that keeps
 * the best few beginnings of configurations (beam search: Lowerre 1976); each of them has an end, so it always finds.
 */
#ifndef TUNER_SPACE_NEAREST_H
#define TUNER_SPACE_NEAREST_H
#include "tuner/space/space.h"

enum { SPACE_NEAREST_MAX = 32 };

/* wish: a place of each parameter, NAN: none (the middle then, words: the first). Fewest changes first, then the
 * shortest way in shares of each parameter's range. At most `max` and SPACE_NEAREST_MAX, at least one; no twins, in a
 * fixed order. */
size_t space_nearest(const struct space *space, const double *wish, uint64_t *out, size_t max);

#endif
