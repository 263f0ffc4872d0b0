/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The valid configuration nearest to a wanted one. */
#ifndef TUNER_SPACE_REPAIR_H
#define TUNER_SPACE_REPAIR_H
#include "tuner/space_impl.h"

enum { REPAIR_FREE = -2 };

/* from: the places wanted, SPACE_ABSENT where there are none. fixed: the place that a parameter must have, or
 * REPAIR_FREE. Nearest has the fewest changes among the parameters that are not fixed; among those, the least sum of
 * steps (words: 1 each). Parameters that were absent and are needed now are no changes; they take the valid value
 * nearest to the middle of their list (words: the first). False where there is none, or none was found within a bounded
 * effort. changes_max bounds the changes. */
bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index);

#endif
