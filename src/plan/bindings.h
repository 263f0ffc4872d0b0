/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which combinations of threads, proc_bind and places differ on a machine. */
#ifndef SRC_PLAN_BINDINGS_H
#define SRC_PLAN_BINDINGS_H
#include <stdbool.h>

#include "src/base/err.h"
#include "src/topo/topo.h"
#include "tuner/space/space.h"

/* Leaves only one combination of each kind in the space, which has the three parameters already: the first stands for
 * all. Unbound comes first, then the places in the order in which people know them. */
int bindings_add(struct space *space, const struct topo *topo, struct err *err);
/* Can a team tell the one kind of places from the other here? False also for words that name no places. */
bool bindings_same(const struct topo *topo, int threads, const char *proc_bind, const char *places, const char *others);

#endif
