/* SPDX-License-Identifier: BSD-3-Clause */
/* The update of a plain tile (plain_tile.h), one after the other in memory or in the rows of the whole matrix. */
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

/* Blocked Floyd-Warshall: Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm",
 * 2003. For each k: the diagonal tile, then row k and column k, then the rest. One parallel region surrounds all of
 * it. Row and column do not read each other, so they need no barrier between them. The thread that updates the next
 * diagonal tile closes it at once: no other thread reads it before the next barrier, so the diagonal does not cost a
 * step of its own. */

/* Tiles are counted without row k or column k, so that a static schedule gives all threads the same number. A tile
 * then stays with the thread that touched it first, except next to the borders between the threads' shares. */
static int without(int t, int k) {
	return t + (t >= k);
}

static void cross_update(const struct fw_state *s, fw_update *update, int k) {
#pragma omp for schedule(runtime) nowait
	for (int t = 0; t < s->across - 1; t++)
		update(s, k, without(t, k), k);
#pragma omp for schedule(runtime)
	for (int t = 0; t < s->down - 1; t++)
		update(s, without(t, k), k, k);
}

static void rest_update(const struct fw_state *s, fw_update *update, int k) {
#pragma omp for collapse(2) schedule(runtime)
	for (int t = 0; t < s->down - 1; t++)
		for (int u = 0; u < s->across - 1; u++) {
			int i = without(t, k), j = without(u, k);
			update(s, i, j, k);
			if (i == k + 1 && j == k + 1)
				update(s, i, j, i);
		}
}

void fw_blocks_run(const struct fw_state *s, fw_update *update) {
#pragma omp parallel
	{
#pragma omp single
		update(s, 0, 0, 0);
		for (int k = 0; k < s->down; k++) {
			cross_update(s, update, k);
			rest_update(s, update, k);
		}
	}
}
