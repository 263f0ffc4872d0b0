/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of this room. */
#ifndef TOPO_IMPL_H
#define TOPO_IMPL_H
#include <hwloc.h>

#include "topo/topo.h"

enum { TOPO_ALL = TOPO_LEVELS /* one place: everything this process may use */, TOPO_CPUS_MAX = 1 << 16 };

struct topo_places {
	int count;
	hwloc_bitmap_t *sets; /* disjoint, in hwloc's logical order */
};

struct topo {
	hwloc_topology_t hw;
	bool here;
	char model[128];
	struct topo_places places[TOPO_LEVELS + 1];
};

/* Fills places from the loaded hw. */
int topo_places_fill(struct topo *topo, struct err *err);
void topo_places_free(struct topo *topo);
/* topo_open without the trial. as_here: take what a file describes for this machine, on which threads are bound. */
struct topo *topo_open_directly(const char *source, bool as_here, struct err *err);
/* 0 if opening the file cannot crash this process. */
int topo_trial(const char *source, struct err *err);

#endif
