/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked, with explicit SIMD tile kernels (simd_tile.h). Layout: tiles in panels of 16 columns, a cache line a row. */
#include "kernels/fw/fw.h"

/* Padding up to whole panels is "no path", which no minimum takes over. */
static int padded(int extent) {
	return (extent + FW_PANEL - 1) / FW_PANEL * FW_PANEL;
}

static void panels_update(const struct fw_state *s, int i, int j, int k) {
	if (i == k && j == k)
		s->ops->close(fw_tile(s, k, k), s->rows, padded(fw_extent(s, k)));
	else
		s->ops->relax(fw_tile(s, i, j), fw_tile(s, i, k), fw_tile(s, k, j), s->rows, padded(fw_extent(s, i)),
		              padded(fw_extent(s, j)), padded(fw_extent(s, k)));
	KERNEL_COUNT(s->events, FW_TILE_UPDATES, 1);
	KERNEL_COUNT(s->events, FW_RELAXATIONS,
	             (int64_t)padded(fw_extent(s, i)) * padded(fw_extent(s, j)) * padded(fw_extent(s, k)));
}

static void simd_run(const struct fw_state *s) {
	fw_blocks_run(s, panels_update);
}

const struct fw_variant KERNEL_COUNTED(fw_simd) = {.name = "simd", .form = FW_PANELS, .run = simd_run};
