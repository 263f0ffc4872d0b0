/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included by isa_tile.h: the loops of the plain variants, which the compiler vectorises with the
 * instructions of one set. Define first: TILE_NAME(word), TILE_TARGET (a function attribute or nothing), TILE_CELL (the
 * type).
 *
 * On the diagonal and in row k a tile is its own source: the middle vertex goes outermost there, and row m is left
 * out of step m, which cannot change it because distances to itself are never below 0. Elsewhere the order is free
 * (tile (k, k) is closed by then), and taking four vertices at a time, for two rows at once, saves most loads and
 * stores. */

/* A row through one vertex: c = min(c, a + b). The rows must differ. */
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

TILE_TARGET static inline TILE_CELL TILE_NAME(least)(TILE_CELL x, TILE_CELL y) {
	return x < y ? x : y;
}

/* Four steps of row_relax at once, for two rows; these differ from the rows of b. */
TILE_TARGET static inline void TILE_NAME(rows_relax4)(TILE_CELL *restrict c, TILE_CELL *restrict d,
                                                      const TILE_CELL *restrict b, const TILE_CELL a[2][4],
                                                      const struct fw_extents *e) {
	const TILE_CELL *b1 = b + e->pitch, *b2 = b1 + e->pitch, *b3 = b2 + e->pitch;
	TILE_CELL a0 = a[0][0], a1 = a[0][1], a2 = a[0][2], a3 = a[0][3];
	TILE_CELL a4 = a[1][0], a5 = a[1][1], a6 = a[1][2], a7 = a[1][3];
	for (int j = 0; j < e->columns; j++) {
		TILE_CELL x = TILE_NAME(least)(a0 + b[j], a1 + b1[j]), y = TILE_NAME(least)(a2 + b2[j], a3 + b3[j]);
		TILE_CELL z = TILE_NAME(least)(a4 + b[j], a5 + b1[j]), w = TILE_NAME(least)(a6 + b2[j], a7 + b3[j]);
		c[j] = TILE_NAME(least)(TILE_NAME(least)(x, y), c[j]);
		d[j] = TILE_NAME(least)(TILE_NAME(least)(z, w), d[j]);
	}
}

TILE_TARGET static void TILE_NAME(tile_own)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b,
                                            const struct fw_extents *e) {
	for (size_t m = 0; m < (size_t)e->inner; m++)
		for (size_t r = 0; r < (size_t)e->rows; r++)
			if (r != m)
				TILE_NAME(row_relax)(c + r * e->pitch, b + m * e->pitch, a[r * e->pitch + m], e->columns);
}

/* `rows` is 1 or 2. */
TILE_TARGET static void TILE_NAME(rows_other)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b,
                                              const struct fw_extents *e, int rows) {
	const TILE_CELL *a1 = a + e->pitch;
	int m = 0;
	for (; rows == 2 && m + 4 <= e->inner; m += 4)
		TILE_NAME(rows_relax4)
	(c, c + e->pitch, b + (size_t)m * e->pitch,
	 (const TILE_CELL[2][4]){{a[m], a[m + 1], a[m + 2], a[m + 3]}, {a1[m], a1[m + 1], a1[m + 2], a1[m + 3]}}, e);
	for (; m < e->inner; m++)
		for (int r = 0; r < rows; r++)
			TILE_NAME(row_relax)
	(c + (size_t)r * e->pitch, b + (size_t)m * e->pitch, a[(size_t)r * e->pitch + (size_t)m], e->columns);
}

TILE_TARGET static void TILE_NAME(tile_other)(TILE_CELL *c, const TILE_CELL *a, const TILE_CELL *b,
                                              const struct fw_extents *e) {
	for (int r = 0; r < e->rows; r += 2, a += 2 * e->pitch, c += 2 * e->pitch)
		TILE_NAME(rows_other)(c, a, b, e, r + 1 < e->rows ? 2 : 1);
}

TILE_TARGET static void TILE_NAME(tile)(void *c, const void *a, const void *b, const struct fw_extents *e) {
	if (e->own)
		TILE_NAME(tile_own)(c, a, b, e);
	else
		TILE_NAME(tile_other)(c, a, b, e);
}
