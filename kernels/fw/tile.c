/* SPDX-License-Identifier: BSD-3-Clause */
/* The tile update in plain C, for the compiler to vectorise with what it may use everywhere.
 *
 * On the diagonal and in row k the tile is its own source: the middle vertex goes outermost there, and row m is left
 * out of step m, which can't change it, as no distance to itself is below 0. Elsewhere the order is free (tile (k, k)
 * is closed by then), and four vertices at a time save most loads and stores of c. */
#include <config.h>

#include "kernels/fw/fw.h"

/* Four steps of fw_row_relax at once; c differs from the rows of b. */
static void row_relax4(int32_t *restrict c, const int32_t *restrict b, size_t width, const int32_t a[4], int count) {
	const int32_t *b1 = b + width, *b2 = b1 + width, *b3 = b2 + width;
	int32_t a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
	for (int j = 0; j < count; j++) {
		int32_t x = a0 + b[j], y = a1 + b1[j], z = a2 + b2[j], w = a3 + b3[j];
		x = x < y ? x : y;
		z = z < w ? z : w;
		x = x < z ? x : z;
		c[j] = x < c[j] ? x : c[j];
	}
}

struct extent {
	size_t width;
	int rows, columns, inner;
};

static void tile_relax_own(int32_t *c, const int32_t *a, const int32_t *b, const struct extent *e) {
	for (int m = 0; m < e->inner; m++)
		for (int r = 0; r < e->rows; r++)
			if (r != m)
				fw_row_relax(c + (size_t)r * e->width, b + (size_t)m * e->width,
				             a[(size_t)r * e->width + (size_t)m], e->columns);
}

static void tile_relax(int32_t *c, const int32_t *a, const int32_t *b, const struct extent *e) {
	for (int r = 0; r < e->rows; r++, a += e->width, c += e->width) {
		int m = 0;
		for (; m + 4 <= e->inner; m += 4)
			row_relax4(c, b + (size_t)m * e->width, e->width,
			           (const int32_t[4]){a[m], a[m + 1], a[m + 2], a[m + 3]}, e->columns);
		for (; m < e->inner; m++)
			fw_row_relax(c, b + (size_t)m * e->width, a[m], e->columns);
	}
}

void fw_tile_update(const struct fw_state *s, int i, int j, int k) {
	struct extent e = {(size_t)s->columns, fw_extent(s, i), fw_extent(s, j), fw_extent(s, k)};
	int32_t *c = fw_tile(s, i, j);
	const int32_t *a = fw_tile(s, i, k), *b = fw_tile(s, k, j);
	if (i == k)
		tile_relax_own(c, a, b, &e);
	else
		tile_relax(c, a, b, &e);
}
