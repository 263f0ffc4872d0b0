/* SPDX-License-Identifier: BSD-3-Clause */
/* 64 cells a word, vectors of words, row after row in strips. */
#include "kernels/gol/gol.h"

static void strip_step(const struct gol_state *state, int now, size_t first) {
	const struct gol_input *input = state->input;
	size_t rows = gol_rows(state, first), words = input->words, stride = state->stride / sizeof(uint64_t);
	uint64_t *dst = gol_row(state, now + 1, (ptrdiff_t)first);
	state->isa->rows(gol_row(state, now, (ptrdiff_t)first), dst, stride, rows, words);
	for (size_t row = 0; row < rows; row++, dst += stride) {
		dst[words - 1] &= input->tail;
		for (size_t word = words; word % 8; word++)
			dst[word] = 0;
	}
	KERNEL_COUNT(state->events, GOL_CELL_UPDATES, rows * input->n);
	KERNEL_COUNT(state->events, GOL_ITEMS, 1);
}

static void bits_run(struct gol_state *state) {
	gol_strips_run(state, strip_step);
}

const struct gol_variant KERNEL_COUNTED(gol_bits) = {
	.unit = sizeof(uint64_t), .cells_per_unit = 64, .load = gol_bits_load, .save = gol_bits_save, .run = bits_run};
