/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations that the machine suggests, for a search to begin with. They follow from what parameters are called, as
 * the field calls them (threads, proc_bind, block, tile_m, block_size_x, ...), and from nothing else of the kernel. */
#ifndef SRC_PLAN_HINTS_H
#define SRC_PLAN_HINTS_H
#include "src/topo/topo.h"
#include "tuner/space/space.h"

enum { PLAN_HINTS_MAX = 8 };

/* Up to PLAN_HINTS_MAX valid indexes other than `start` (the baseline, whose values all other parameters have;
 * UINT64_MAX: none, and no hints), the most sensible first. */
size_t plan_hints(const struct space *space, uint64_t start, const struct topo *topo, bool gpu,
                  uint64_t out[PLAN_HINTS_MAX]);

#endif
