/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/gol/gol.h"

static uint64_t population(const struct gol_state *state) {
	ptrdiff_t n = (ptrdiff_t)state->input->n;
	uint64_t alive = 0;
#pragma omp parallel for schedule(static) reduction(+ : alive)
	for (ptrdiff_t row = 0; row < n; row++) {
		uint64_t cells[GOL_WORDS_MAX] = {0};
		state->variant->save(gol_row(state, state->now, row), cells, state->input->n);
		for (size_t word = 0; word < state->input->words; word++)
			alive += (uint64_t)__builtin_popcountll(cells[word]);
	}
	return alive;
}

/* The layout's bytes that are read and written in a run, if no generation stays in the caches from pass to pass. Halos
 * are not counted. */
static double traffic(const struct gol_state *state) {
	double n = (double)state->input->n, passes = (double)state->input->generations;
	if (state->depth)
		passes = (double)gol_temporal_passes(state);
	return 2 * n * n * (double)state->variant->unit / (double)state->variant->cells_per_unit * passes;
}

size_t gol_figures(const struct gol_state *state, double seconds, struct ss_figure *out, size_t most) {
	double n = (double)state->input->n, generations = (double)state->input->generations;
	const struct ss_figure figures[] = {
		{"rate", n * n * generations / seconds * 1e-9, "Gcells/s"},
		{"generation", seconds / generations * 1e6, "us"},
		{"traffic", traffic(state) / generations, "bytes a generation"},
		{"bandwidth", traffic(state) / seconds * 1e-9, "GB/s"},
		{"population", (double)population(state), "cells"},
	};
	size_t count = 0;
	for (; count < most && count < sizeof figures / sizeof *figures; count++)
		out[count] = figures[count];
	return count;
}
