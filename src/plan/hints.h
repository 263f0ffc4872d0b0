/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggests configurations for the start of a search. They depend only on the machine and on the usual names of
 * parameters (threads, proc_bind, block, tile_m, block_size_x, ...), not on the kernel. */
#ifndef SRC_PLAN_HINTS_H
#define SRC_PLAN_HINTS_H
#include "topo/topo.h"
#include "tuner/space/space.h"

enum { PLAN_HINTS_MAX = 8 };

/* Stores up to PLAN_HINTS_MAX valid indexes, most promising first, and returns their number. start: the baseline, which
 * provides the values of all other parameters; without one (UINT64_MAX) there are no hints. */
size_t plan_hints(const struct space *space, uint64_t start, const struct topo *topo, bool gpu,
                  uint64_t out[PLAN_HINTS_MAX]);
/* The same for a whole program, whose runs may be few: teams by halves, spread, then all cores, spread and close. Most
 * of what a program gains comes from its team, and the largest gains come from a much smaller one. */
size_t plan_team_hints(const struct space *space, uint64_t start, const struct topo *topo,
                       uint64_t out[PLAN_HINTS_MAX]);
#endif
