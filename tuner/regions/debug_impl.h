/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and lines of regions, from the debug information of one file. */
#ifndef TUNER_REGIONS_DEBUG_IMPL_H
#define TUNER_REGIONS_DEBUG_IMPL_H

#include "tuner/regions/regions_record_impl.h"

/* Fill name, symbol and place where they are still empty. base: the address that the file has for its first loaded
 * byte. libdw reads separate debug files, too; false without it, or where it cannot read the file. */
bool debug_libdw_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count);
/* Asks addr2line of binutils, elfutils or LLVM. */
void debug_addr2line_find(const char *file, uint64_t base, struct regions_region *const *regions, size_t count);

void debug_place_set(struct regions_region *region, const char *file, int line);
#endif
