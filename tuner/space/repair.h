/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The valid configuration nearest to a wanted one. */
#ifndef TUNER_SPACE_REPAIR_H
#define TUNER_SPACE_REPAIR_H
#include "tuner/space/impl.h"

enum { REPAIR_FREE = -2, REPAIR_SHIFT = 40 };

/* The branch that a parameter should have: its own; where it was absent, the middle number or the first word. */
uint32_t space_wanted(const struct space *space, const int *from, int param);
/* changes << REPAIR_SHIFT | steps, for this parameter */
uint64_t repair_cost(const struct space *space, const int *from, int param, uint32_t branch);

/* from: the places wanted, SPACE_ABSENT where there are none. fixed: the place that a parameter must have, or
 * REPAIR_FREE. Nearest has the fewest changes among the parameters that are not fixed; among those, the least sum of
 * steps (words: 1 each). Parameters that were absent and are needed now are no changes; they take the valid value
 * nearest to the middle of their list (words: the first). False where there is none, or none was found within a bounded
 * effort. changes_max bounds the changes. */
bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index);

/* The same with one parameter fixed, for many such: one pass over the whole diagram serves all. NULL where the diagram
 * is too large for that; `from` is not copied. */
struct repairs;
struct repairs *repairs_new(const struct space *space, const int *from);
void repairs_free(struct repairs *repairs);
bool repairs_find(struct repairs *repairs, int param, uint32_t branch, size_t changes_max, uint64_t *index);

#endif
