/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included by isa_tiles.h: what the plain variants do, for the compiler to vectorise with the instructions
 * of one set. Before it: TILE_NAME(word), TILE_TARGET (a function attribute or nothing), TILE_CELL (the type).
 *
 * On the diagonal and in row k a tile is its own source: the middle vertex goes outermost there, and row m is left out
 * of step m, which can't change it, as no distance to itself is below 0. Elsewhere the order is free (tile (k, k) is
 * closed by then), and four vertices at a time, for two rows at once, save most loads and stores. */

/* One row through one vertex: c = min(c, a + b). The rows must differ. */
TILE_TARGET static inline void TILE_NAME(row_relax)(TILE_CELL *restrict c, const TILE_CELL *restrict b, TILE_CELL a,
                                                    int count) {
	for (int j = 0; j < count; j++) {
		TILE_CELL through = a + b[j];
		c[j] = through < c[j] ? through : c[j];
	}
}

TILE_TARGET static void TILE_NAME(row)(void *c, const void *b, const void *a, int count) {
	TILE_NAME(row_relax)(c, b, *(const TILE_CELL *)a, count);
}

/* Four steps of row_relax at once; c differs from the rows of b. */
TILE_TARGET static inline void TILE_NAME(row_relax4)(TILE_CELL *restrict c, const TILE_CELL *restrict b,
                                                     const TILE_CELL *a, const struct fw_extents *e) {
	const TILE_CELL *b1 = b + e->pitch, *b2 = b1 + e->pitch, *b3 = b2 + e->pitch;
	TILE_CELL a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
	for (int j = 0; j < e->columns; j++) {
		TILE_CELL x = a0 + b[j], y = a1 + b1[j], z = a2 + b2[j], w = a3 + b3[j];
		x = x < y ? x : y;
		z = z < w ? z : w;
		x = x < z ? x : z;
		c[j] = x < c[j] ? x : c[j];
	}
}

TILE_TARGET static void TILE_NAME(tile_own)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b,
                                            const struct fw_extents *e) {
	for (size_t m = 0; m < (size_t)e->inner; m++)
		for (size_t r = 0; r < (size_t)e->rows; r++)
			if (r != m)
				TILE_NAME(row_relax)(c + r * e->pitch, b + m * e->pitch, a[r * e->pitch + m], e->columns);
}

TILE_TARGET static void TILE_NAME(tile_other)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b,
                                              const struct fw_extents *e) {
	for (int r = 0; r < e->rows; r++, a += e->pitch, c += e->pitch) {
		int m = 0;
		for (; m + 4 <= e->inner; m += 4)
			TILE_NAME(row_relax4)(c, b + (size_t)m * e->pitch, (const TILE_CELL[4]){a[m], a[m + 1], a[m + 2], a[m + 3]},
			                      e);
		for (; m < e->inner; m++)
			TILE_NAME(row_relax)(c, b + (size_t)m * e->pitch, a[m], e->columns);
	}
}

TILE_TARGET static void TILE_NAME(tile)(void *c, const void *a, const void *b, const struct fw_extents *e) {
	if (e->own)
		TILE_NAME(tile_own)(c, a, b, e);
	else
		TILE_NAME(tile_other)(c, a, b, e);
}
