/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked, with the parallel loops inside the tiles. The tiles run one after the other, so a region is opened for each
 * of the (n / block)^3 updates and its threads share only `block` rows or columns: starting them costs more than they
 * bring. It is here to be compared with `tiled`, whose threads share the tiles. */
#include "kernels/fw/fw.h"

enum { COLUMNS = 16 }; /* of a row tile, for one iteration */

/* On the diagonal and in row k a tile reads its own rows, so the middle vertex goes outermost; row m stays the same in
 * step m. */
static void columns_close(const struct fw_state *s, char *c, const char *a, int rows, int columns) {
	size_t pitch = s->pitch * FW_CELL;
	for (int m = 0; m < rows; m++)
		for (int r = 0; r < rows; r++)
			if (r != m)
				s->ops->row(c + (size_t)r * pitch, c + (size_t)m * pitch, a + (size_t)r * pitch + (size_t)m * FW_CELL,
				            columns);
}

/* The columns of a tile in row k do not read each other. */
static void tile_own(const struct fw_state *s, int j, int k) {
	int rows = fw_extent(s, k), columns = fw_extent(s, j);
	char *c = fw_tile(s, k, j), *a = fw_tile(s, k, k);
	if (j == k) {
		columns_close(s, c, a, rows, columns);
		return;
	}
#pragma omp parallel for schedule(runtime)
	for (int first = 0; first < columns; first += COLUMNS)
		columns_close(s, c + (size_t)first * FW_CELL, a, rows, columns - first < COLUMNS ? columns - first : COLUMNS);
}

static void tile_other(const struct fw_state *s, int i, int j, int k) {
	int rows = fw_extent(s, i), columns = fw_extent(s, j), inner = fw_extent(s, k);
	char *c = fw_tile(s, i, j), *a = fw_tile(s, i, k), *b = fw_tile(s, k, j);
	size_t pitch = s->pitch * FW_CELL;
#pragma omp parallel for schedule(runtime)
	for (int r = 0; r < rows; r++)
		for (int m = 0; m < inner; m++)
			s->ops->row(c + (size_t)r * pitch, b + (size_t)m * pitch, a + (size_t)r * pitch + (size_t)m * FW_CELL,
			            columns);
}

static void tile_update(const struct fw_state *s, int i, int j, int k) {
	if (i == k)
		tile_own(s, j, k);
	else
		tile_other(s, i, j, k);
	KERNEL_COUNT(s->events, FW_TILE_UPDATES, 1);
	KERNEL_COUNT(s->events, FW_RELAXATIONS, (int64_t)fw_extent(s, i) * fw_extent(s, j) * fw_extent(s, k));
}

static void inner_loops_run(const struct fw_state *s) {
	for (int k = 0; k < s->down; k++) {
		tile_update(s, k, k, k);
		for (int j = 0; j < s->across; j++)
			if (j != k)
				tile_update(s, k, j, k);
		for (int i = 0; i < s->down; i++)
			if (i != k)
				tile_update(s, i, k, k);
		for (int i = 0; i < s->down; i++)
			for (int j = 0; j < s->across; j++)
				if (i != k && j != k)
					tile_update(s, i, j, k);
	}
}

const struct fw_variant KERNEL_COUNTED(fw_inner_loops) = {
	.name = "inner_loops", .form = FW_TILES, .run = inner_loops_run};
