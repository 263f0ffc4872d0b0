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
#endif
