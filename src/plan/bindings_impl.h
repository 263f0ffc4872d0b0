/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the combinations of threads, proc_bind and places that differ on a machine. */
#ifndef SRC_PLAN_BINDINGS_IMPL_H
#define SRC_PLAN_BINDINGS_IMPL_H

#include "topo/topo.h"
#include "tuner/space/space.h"

/* Restricts the space, which already has the three parameters, to one combination for each distinct binding. Of several
 * equal ones the first stays: unbound comes first, then the places from the best known kind to the least known. */
int bindings_add(struct space *space, const struct topo *topo, struct err *err);
/* Tells whether both kinds of places give the same binding on this machine. False if either is not a kind of places. */
bool bindings_same(const struct topo *topo, int threads, const char *proc_bind, const char *places, const char *others);
#endif
