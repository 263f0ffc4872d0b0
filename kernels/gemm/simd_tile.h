/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Before it: TILE_NAME(word), TILE_TARGET (a function attribute or
 * nothing), TILE_LANES (floats in a vector), TILE_ROWS. A tile has two vectors in each row: its sums and one row of
 * operands must fit in the registers. */
typedef float TILE_NAME(vec) __attribute__((vector_size(4 * TILE_LANES), aligned(4), may_alias));

TILE_TARGET static void TILE_NAME(tile)(size_t depth, const float *a, const float *b, float *c, size_t stride,
                                        bool add) {
	TILE_NAME(vec) sums[TILE_ROWS][2] = {0};
	for (size_t p = 0; p < depth; p++, a += TILE_ROWS, b += 2 * TILE_LANES) {
		const TILE_NAME(vec) *row = (const TILE_NAME(vec) *)(const void *)b;
		const TILE_NAME(vec) left = row[0], right = row[1];
#pragma GCC unroll 16
		for (size_t i = 0; i < TILE_ROWS; i++) {
			sums[i][0] += a[i] * left;
			sums[i][1] += a[i] * right;
		}
	}
#pragma GCC unroll 16
	for (size_t i = 0; i < TILE_ROWS; i++) {
		TILE_NAME(vec) *row = (TILE_NAME(vec) *)(void *)(c + i * stride);
		if (add) {
			sums[i][0] += row[0];
			sums[i][1] += row[1];
		}
		row[0] = sums[i][0];
		row[1] = sums[i][1];
	}
}

#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_LANES
#undef TILE_ROWS
