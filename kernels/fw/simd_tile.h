/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included by isa_tile.h after plain_tile.h: the kernels on tiles in panels, with explicit vectors. Before
 * it, besides: TILE_LANES (cells in a vector), TILE_ROWS (rows held in registers; divides FW_PANEL), TILE_MIN(x, y).
 *
 * TILE_ROWS rows of one panel stay in registers while the middle vertex runs over all of its range: one load of b feeds
 * TILE_ROWS minima, one broadcast of a feeds a whole panel, and c is read and written once. All of it walks through
 * memory in order, because a panel is stored row after row.
 *
 * In place it is still right when c is a (or b) and the other operand is closed (its own shortest paths are final):
 * then one step through it reaches the result, and a value that is already lowered is still the length of a path. */
#define TILE_WIDE (FW_PANEL / TILE_LANES)
typedef TILE_CELL TILE_NAME(vec) __attribute__((vector_size(FW_CELL * TILE_LANES), may_alias));

/* Rows i .. i + TILE_ROWS of panel j, through `inner` vertices from panel k on. */
TILE_TARGET static inline void TILE_NAME(strip)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b, size_t panel,
                                                int inner) {
	TILE_NAME(vec) best[TILE_ROWS][TILE_WIDE];
	TILE_NAME(vec) *cells = (void *)c;
	for (int r = 0; r < TILE_ROWS; r++)
		for (int w = 0; w < TILE_WIDE; w++)
			best[r][w] = cells[r * TILE_WIDE + w];
	for (; inner > 0; inner -= FW_PANEL, a += panel)
#pragma GCC unroll 4
		for (int k = 0; k < FW_PANEL; k++, b += FW_PANEL) {
			const TILE_NAME(vec) *row = (const void *)b;
			for (int r = 0; r < TILE_ROWS; r++)
				for (int w = 0; w < TILE_WIDE; w++) {
					TILE_NAME(vec) through = row[w] + a[r * FW_PANEL + k];
					best[r][w] = TILE_MIN(best[r][w], through);
				}
		}
	for (int r = 0; r < TILE_ROWS; r++)
		for (int w = 0; w < TILE_WIDE; w++)
			cells[r * TILE_WIDE + w] = best[r][w];
}

TILE_TARGET static void TILE_NAME(relax)(void *c, const void *a, const void *b, int block, int rows, int columns,
                                         int inner) {
	size_t panel = (size_t)block * FW_PANEL;
	for (int j = 0; j < columns; j += FW_PANEL)
		for (int i = 0; i < rows; i += TILE_ROWS)
			TILE_NAME(strip)
	((TILE_CELL *)c + (size_t)(j / FW_PANEL) * panel + (size_t)i * FW_PANEL,
	 (const TILE_CELL *)a + (size_t)i * FW_PANEL, (const TILE_CELL *)b + (size_t)(j / FW_PANEL) * panel, panel, inner);
}

/* The triple loop on FW_PANEL vertices: d points to the corner of a square on the diagonal. Row k is in its own step,
 * too: no distance to itself is below 0. */
TILE_TARGET static void TILE_NAME(corner)(TILE_CELL *d) {
	TILE_NAME(vec) *cells = (void *)d;
	for (int k = 0; k < FW_PANEL; k++) {
		TILE_NAME(vec) row[TILE_WIDE];
		for (int w = 0; w < TILE_WIDE; w++)
			row[w] = cells[k * TILE_WIDE + w];
		for (int i = 0; i < FW_PANEL; i++) {
			TILE_CELL first = d[i * FW_PANEL + k];
			for (int w = 0; w < TILE_WIDE; w++)
				cells[i * TILE_WIDE + w] = TILE_MIN(cells[i * TILE_WIDE + w], row[w] + first);
		}
	}
}

/* Blocked Floyd-Warshall inside the tile. The last step covers the row and the column again, to no effect. */
TILE_TARGET static void TILE_NAME(close)(void *tile, int block, int size) {
	TILE_CELL *d = tile;
	size_t panel = (size_t)block * FW_PANEL;
	for (int k = 0; k < size; k += FW_PANEL) {
		TILE_CELL *column = d + (size_t)(k / FW_PANEL) * panel, *row = d + (size_t)k * FW_PANEL;
		TILE_CELL *corner = column + (size_t)k * FW_PANEL;
		TILE_NAME(corner)(corner);
		TILE_NAME(relax)(row, corner, row, block, FW_PANEL, size, FW_PANEL);
		TILE_NAME(relax)(column, column, corner, block, size, FW_PANEL, FW_PANEL);
		TILE_NAME(relax)(d, column, row, block, size, size, FW_PANEL);
	}
}
#undef TILE_WIDE
