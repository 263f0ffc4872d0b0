/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the valid configuration nearest to a wanted one. */
#ifndef TUNER_SPACE_SPACE_NEAR_H
#define TUNER_SPACE_SPACE_NEAR_H
#include "tuner/space/impl.h"

enum { REPAIR_FREE = -2, REPAIR_SHIFT = 40 };

/* from: the wanted levels, or SPACE_ABSENT. fixed: the level that a parameter must have, or REPAIR_FREE. The nearest
 * configuration has the fewest changes among parameters that are not fixed, and among those the smallest sum of steps
 * (of a word: 1). A parameter that was absent and is needed now is not a change; it takes the valid value nearest to
 * the middle of its list (of words the first). changes_max bounds the changes. False: there is none, or none was found
 * within a bounded effort. */
bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index);

/* The same for many repairs with one fixed parameter each: one pass over the whole diagram serves all. NULL if the
 * diagram is too large for that. `from` is not copied. */
struct repairs;
#endif
