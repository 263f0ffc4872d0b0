/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the valid configuration nearest to a wanted one. */
#ifndef TUNER_SPACE_REPAIR_H
#define TUNER_SPACE_REPAIR_H
#include "tuner/space/impl.h"

enum { REPAIR_FREE = -2, REPAIR_SHIFT = 40 };

/* The wanted branch of a parameter: its own, or if it was absent the middle number or the first word. */
uint32_t space_wanted(const struct space *space, const int *from, int param);
/* The cost of a branch for this parameter: changes << REPAIR_SHIFT | steps. */
uint64_t repair_cost(const struct space *space, const int *from, int param, uint32_t branch);

/* from: the wanted levels, or SPACE_ABSENT. fixed: the level that a parameter must have, or REPAIR_FREE. The nearest
 * configuration has the fewest changes among parameters that are not fixed, and among those the smallest sum of steps
 * (of a word: 1). A parameter that was absent and is needed now is not a change; it takes the valid value nearest to
 * the middle of its list (of words the first). changes_max bounds the changes. False: there is none, or none was found
 * within a bounded effort. */
bool space_repair(const struct space *space, const int *from, const int *fixed, size_t changes_max, uint64_t *index);

/* The same for many repairs with one fixed parameter each: one pass over the whole diagram serves all. NULL if the
 * diagram is too large for that. `from` is not copied. */
struct repairs;
struct repairs *repairs_new(const struct space *space, const int *from);
void repairs_free(struct repairs *repairs);
bool repairs_find(struct repairs *repairs, int param, uint32_t branch, size_t changes_max, uint64_t *index);

#endif
