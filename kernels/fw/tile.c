/* SPDX-License-Identifier: BSD-3-Clause */
/* The update of a plain tile (plain_tile.h), one after the other in memory or in the rows of the whole matrix. */
#include <config.h>

#include "kernels/fw/fw.h"

void fw_tile_update(const struct fw_state *s, int i, int j, int k) {
	struct fw_extents e = {s->pitch, fw_extent(s, i), fw_extent(s, j), fw_extent(s, k), i == k};
	s->ops->tile(fw_tile(s, i, j), fw_tile(s, i, k), fw_tile(s, k, j), &e);
}

void fw_tile_update_counted(const struct fw_state *s, int i, int j, int k) {
	fw_tile_update(s, i, j, k);
	kernel_count(s->events, FW_TILE_UPDATES, 1);
	kernel_count(s->events, FW_RELAXATIONS, (int64_t)fw_extent(s, i) * fw_extent(s, j) * fw_extent(s, k));
}
