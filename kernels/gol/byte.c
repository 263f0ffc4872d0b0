/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte a cell, an inner loop without branches that the compiler vectorises, one parallel region for all. */
#include "kernels/gol/gol.h"

/* 3 neighbours, or 2 and alive: exactly then neighbours | alive is 3. */
static void byte_row(const uint8_t *above, const uint8_t *row, const uint8_t *below, uint8_t *next, ptrdiff_t n) {
	for (ptrdiff_t j = 0; j < n; j++) {
		uint8_t neighbours =
			above[j - 1] + above[j] + above[j + 1] + row[j - 1] + row[j + 1] + below[j - 1] + below[j] + below[j + 1];
		next[j] = (neighbours | row[j]) == 3;
	}
}

static void byte_run(struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	int64_t generations = state->input->generations;
#pragma omp parallel
	for (int64_t generation = 0; generation < generations; generation++) {
		int now = (state->now + generation) & 1;
#pragma omp for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++) {
			byte_row(gol_row(state, now, i - 1), gol_row(state, now, i), gol_row(state, now, i + 1),
			         gol_row(state, now + 1, i), n);
			KERNEL_COUNT(state->events, GOL_CELL_UPDATES, n);
			KERNEL_COUNT(state->events, GOL_ITEMS, 1);
		}
	}
	state->now = (state->now + generations) & 1;
}

const struct gol_variant KERNEL_COUNTED(gol_byte) = {
	.unit = 1, .cells_per_unit = 1, .load = gol_bytes_load, .save = gol_bytes_save, .run = byte_run};
