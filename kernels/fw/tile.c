/* SPDX-License-Identifier: BSD-3-Clause */
/* The tile update in plain C: the triple loop with the middle vertex outermost, which is right even where the tile is
 * its own source. Then row k of the tile is left out of step k: it can't change, as no distance to itself is below 0. */
#include <config.h>

#include "kernels/fw/fw.h"

void fw_tile_update(const struct fw_state *s, int i, int j, int k) {
	int32_t *c = fw_tile(s, i, j);
	const int32_t *a = fw_tile(s, i, k), *b = fw_tile(s, k, j);
	int rows = fw_extent(s, i), columns = fw_extent(s, j), inner = fw_extent(s, k);
	size_t width = (size_t)s->columns;
	for (int m = 0; m < inner; m++)
		for (int r = 0; r < rows; r++)
			if (i != k || r != m)
				fw_row_relax(c + (size_t)r * width, b + (size_t)m * width, a[(size_t)r * width + (size_t)m], columns);
}
