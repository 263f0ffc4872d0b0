/* SPDX-License-Identifier: BSD-3-Clause */
/* The abstract places of OpenMP 5.2, section 21.1.6, as sets of CPUs.
 *
 * Every CPU belongs to one object at each level, and the CPUs of one object are a place. Where a level does not exist
 * for a CPU (virtual machines without caches, recorded files without packages), a core is the hardware thread itself
 * and the others take the next larger level: last-level cache -> NUMA domain -> socket -> the whole machine. */
#include <config.h>

#include <stdlib.h>

#include "base/mem.h"
#include "topo/impl.h"

static hwloc_obj_t package_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_PACKAGE, pu);
	return package ? package : hwloc_get_root_obj(hw);
}

/* CPUs nearest to the same memory. Several kinds of memory at one object (DRAM and HBM) are one domain. */
static hwloc_obj_t domain_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	for (hwloc_obj_t obj = pu; obj; obj = obj->parent)
		if (obj->memory_arity > 0)
			return obj;
	return package_of(hw, pu);
}

/* The outermost cache of this CPU, which is not the same level everywhere on a hybrid processor. */
static hwloc_obj_t last_cache_of(hwloc_topology_t hw, hwloc_obj_t pu) {
	hwloc_obj_t last = NULL;
	for (hwloc_obj_t obj = pu; obj; obj = obj->parent)
		if (hwloc_obj_type_is_dcache(obj->type))
			last = obj;
	return last ? last : domain_of(hw, pu);
}

static hwloc_obj_t object_of(hwloc_topology_t hw, hwloc_obj_t pu, int level) {
	hwloc_obj_t core;
	switch (level) {
	case TOPO_PU:
		return pu;
	case TOPO_CORE:
		core = hwloc_get_ancestor_obj_by_type(hw, HWLOC_OBJ_CORE, pu);
		return core ? core : pu;
	case TOPO_LLC:
		return last_cache_of(hw, pu);
	case TOPO_NUMA:
		return domain_of(hw, pu);
	case TOPO_PACKAGE:
		return package_of(hw, pu);
	default:
		return hwloc_get_root_obj(hw);
	}
}

/* hwloc numbers CPUs depth first, so CPUs of one object are neighbours. */
static int level_fill(struct topo *topo, int level, int cpus) {
	struct topo_places *places = &topo->places[level];
	hwloc_obj_t last = NULL;
	places->sets = mem_alloc((size_t)cpus, sizeof(hwloc_bitmap_t));
	for (int i = 0; i < cpus; i++) {
		hwloc_obj_t pu = hwloc_get_obj_by_type(topo->hw, HWLOC_OBJ_PU, (unsigned)i);
		hwloc_obj_t obj = object_of(topo->hw, pu, level);
		if (obj != last && !(places->sets[places->count++] = hwloc_bitmap_alloc()))
			return -1;
		if (hwloc_bitmap_set(places->sets[places->count - 1], pu->os_index) != 0)
			return -1;
		last = obj;
	}
	return 0;
}

int topo_places_fill(struct topo *topo, struct err *err) {
	int cpus = hwloc_get_nbobjs_by_type(topo->hw, HWLOC_OBJ_PU);
	for (int level = 0; level <= TOPO_ALL; level++)
		if (level_fill(topo, level, cpus) != 0)
			return err_set(err, ERR_FAILED, NULL, "out of memory");
	return 0;
}

void topo_places_free(struct topo *topo) {
	for (int level = 0; level <= TOPO_ALL; level++) {
		for (int i = 0; i < topo->places[level].count; i++)
			hwloc_bitmap_free(topo->places[level].sets[i]);
		free(topo->places[level].sets);
	}
}
