/* SPDX-License-Identifier: BSD-3-Clause */
/* Single distances, whatever their type: for filling the matrix and for reading the result. */
#include <config.h>
#include <math.h>

#include "kernels/fw/fw.h"

void fw_cell_set(const struct fw_state *s, int i, int j, int32_t distance) {
	if (s->type == FW_FLOAT)
		*(float *)fw_cell(s, i, j) = (float)distance;
	else
		*(int32_t *)fw_cell(s, i, j) = distance;
}

double fw_cell_distance(const struct fw_state *s, int i, int j) {
	const void *cell = fw_cell(s, i, j);
	if (s->type == FW_FLOAT)
		return *(const float *)cell;
	return *(const int32_t *)cell == FW_INF ? (double)INFINITY : *(const int32_t *)cell;
}

void fw_cells_clear(const struct fw_state *s, void *cells, size_t count) {
	if (s->type == FW_FLOAT)
		for (size_t c = 0; c < count; c++)
			((float *)cells)[c] = INFINITY;
	else
		for (size_t c = 0; c < count; c++)
			((int32_t *)cells)[c] = FW_INF;
}
