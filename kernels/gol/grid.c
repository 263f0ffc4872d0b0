/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops over items are those of the variants: a static schedule gives every thread the same rows each time. */
#include <config.h>

#include <string.h>
#include <sys/mman.h>

#include "kernels/pages.h"
#include "kernels/gol/gol.h"

/* Before row 0: a line and a dead row; after the last row: a dead row, and a line that vectors may read. It is one
 * allocation, so that the system refuses it as a whole if memory is short. */
static bool allocate(struct gol_state *state) {
	size_t n = state->input->n, cells = state->variant->cells_per_unit;
	size_t units = (n + cells - 1) / cells + 1;
	state->stride = (units * state->variant->unit + GOL_LINE - 1) / GOL_LINE * GOL_LINE;
	if (n + 2 > (SIZE_MAX / 2 - 2 * GOL_LINE) / state->stride)
		return false;
	size_t size = (n + 2) * state->stride + GOL_LINE;
	state->bytes = 2 * size + GOL_LINE;
	state->memory = kernel_pages_new(state->bytes);
	if (!state->memory)
		return false;
#if defined(MADV_HUGEPAGE)
	if (state->tiles) /* going down a column, each row is on another page */
		madvise(state->memory, state->bytes, MADV_HUGEPAGE);
#endif
	state->grid[0] = state->memory + GOL_LINE + state->stride;
	state->grid[1] = state->grid[0] + size;
	return true;
}

/* The pages are zero already. */
static void touch(const struct gol_state *state, int grid) {
	size_t items = gol_items(state);
#pragma omp parallel for schedule(runtime)
	for (size_t item = 0; item < items; item++) {
		size_t first = item * state->strip;
		memset(gol_row(state, grid, (ptrdiff_t)first), 0, gol_rows(state, first) * state->stride);
	}
}

bool gol_grids_new(struct gol_state *state) {
	if (!allocate(state))
		return false;
	touch(state, 0);
	touch(state, 1);
	return true;
}

void gol_grids_load(struct gol_state *state) {
	const struct gol_input *input = state->input;
	size_t items = gol_items(state), strip = state->strip;
	state->now = 0;
#pragma omp parallel for schedule(runtime)
	for (size_t item = 0; item < items; item++)
		for (size_t row = item * strip; row < input->n && row < (item + 1) * strip; row++)
			state->variant->load(gol_row(state, 0, (ptrdiff_t)row), input->cells + row * input->words, input->n);
}

void gol_grids_free(struct gol_state *state) {
	kernel_pages_free(state->memory, state->bytes);
	kernel_pages_free(state->tiles, state->tile_bytes * (size_t)state->threads);
}

void gol_strips_run(struct gol_state *state, gol_strip *step) {
	size_t items = gol_items(state);
	int64_t generations = state->input->generations;
#pragma omp parallel
	for (int64_t generation = 0; generation < generations; generation++) {
#pragma omp for schedule(runtime)
		for (size_t item = 0; item < items; item++)
			step(state, (state->now + generation) & 1, item * state->strip);
	}
	state->now = (state->now + generations) & 1;
}
