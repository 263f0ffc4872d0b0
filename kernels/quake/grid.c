/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a state. Its pages are mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are. */
#include <config.h>
#include <omp.h>
#include <string.h>

#include "kernels/pages.h"
#include "kernels/quake/quake.h"

enum { RING_ROWS = 4 * (QUAKE_DEPTH_MAX - 1), ALARMS_MARGIN = 16 };

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

/* QUAKE_N_MAX keeps all of this far from overflow, the number of threads may not. */
static bool layout(struct quake_state *s, size_t *grid_bytes) {
	size_t n = s->input->n, rings = 0;
	s->columns = round_up(n, QUAKE_CHUNK);
	s->stride =
		QUAKE_LINE + s->columns * sizeof(float) + round_up(s->columns / QUAKE_CHUNK + ALARMS_MARGIN, QUAKE_LINE);
	*grid_bytes = (n + 2) * s->stride;
	s->ring_bytes = s->variant->bands ? round_up(RING_ROWS * s->stride, 4096) : 0;
	return !__builtin_mul_overflow(s->ring_bytes, (size_t)s->threads, &rings) &&
	       !__builtin_add_overflow(rings, 2 * *grid_bytes, &s->bytes);
}

/* Zeros again: it is the touch that matters. */
static void touch(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n, block = s->variant->bands ? (ptrdiff_t)s->block : 1;
	for (int grid = 0; grid < 2; grid++) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t first = 0; first < n; first += block)
			for (ptrdiff_t i = first; i < first + block && i < n; i++)
				memset(quake_row(s, grid, i), 0, s->columns * sizeof(float));
	}
	if (!s->ring_bytes)
		return;
#pragma omp parallel num_threads(s->threads)
	memset(s->rings + (size_t)omp_get_thread_num() * s->ring_bytes, 0, s->ring_bytes);
}

bool quake_grids_new(struct quake_state *s) {
	size_t grid_bytes;
	if (!layout(s, &grid_bytes))
		return false;
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return false;
	s->memory = pages;
	s->grid[0] = s->memory + s->stride + QUAKE_LINE;
	s->grid[1] = s->grid[0] + grid_bytes;
	s->rings = s->memory + 2 * grid_bytes;
	touch(s);
	return true;
}

void quake_grids_load(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n, block = s->variant->bands ? (ptrdiff_t)s->block : 1;
	s->now = 0;
#pragma omp parallel for schedule(runtime)
	for (ptrdiff_t first = 0; first < n; first += block)
		for (ptrdiff_t i = first; i < first + block && i < n; i++)
			memcpy(quake_row(s, 0, i), s->input->cells + i * n, (size_t)n * sizeof(float));
}

void quake_grids_free(struct quake_state *s) {
	kernel_pages_free(s->memory, s->bytes);
	s->memory = NULL;
}
