/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte a cell, vectors of 16, 32 or 64 cells that walk down a strip of rows with the sums of three in registers. */
#include <string.h>

#include "kernels/gol/gol.h"

static void strip_step(const struct gol_state *state, int now, size_t first) {
	size_t rows = gol_rows(state, first), n = state->input->n, over = -n % GOL_LINE;
	uint8_t *dst = gol_row(state, now + 1, (ptrdiff_t)first);
	state->isa->bytes(gol_row(state, now, (ptrdiff_t)first), dst, state->stride, rows, n);
	for (size_t row = 0; row < rows; row++, dst += state->stride)
		memset(dst + n, 0, over);
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, rows * n);
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

static void simd8_run(struct gol_state *state) {
	gol_strips_run(state, strip_step);
}

const struct gol_variant KERNEL_COUNTED(gol_simd8) = {
	.unit = 1, .cells_per_unit = 1, .load = gol_bytes_load, .save = gol_bytes_save, .run = simd8_run};
