/* SPDX-License-Identifier: BSD-3-Clause */
/* The baseline: an int a cell and a parallel loop over rows, as it is first written. */
#include "kernels/gol/gol.h"

static void int_run(struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	for (int64_t generation = 0; generation < state->input->generations; generation++) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++) {
			const int *above = gol_row(state, state->now, i - 1);
			const int *row = gol_row(state, state->now, i);
			const int *below = gol_row(state, state->now, i + 1);
			int *next = gol_row(state, state->now + 1, i);
			for (ptrdiff_t j = 0; j < n; j++) {
				int neighbours = above[j - 1] + above[j] + above[j + 1] + row[j - 1] + row[j + 1] + below[j - 1] +
				                 below[j] + below[j + 1];
				next[j] = neighbours == 3 || (neighbours == 2 && row[j]);
			}
			KERNEL_COUNT(state->events, GOL_CELL_UPDATES, n);
			KERNEL_COUNT(state->events, GOL_ITEMS, 1);
		}
		state->now ^= 1;
	}
}

const struct gol_variant KERNEL_COUNTED(gol_int) = {
	.unit = sizeof(int), .cells_per_unit = 1, .load = gol_ints_load, .save = gol_ints_save, .run = int_run};
