/* SPDX-License-Identifier: BSD-3-Clause */
/* The input: a random directed graph. Out-degrees are uniform in 0 .. 2 * degree, so that some vertices reach nothing;
 * weights are uniform in 1 .. FW_WEIGHT_MAX. Parallel edges may occur, loops do not. */
#include <config.h>
#include <stdlib.h>

#include "kernels/fw/fw.h"
#include "kernels/random.h"

enum ss_status fw_graph_random(struct fw_input *input, int n, int degree, uint64_t seed) {
	uint64_t state = seed;
	size_t count = 0, most = (size_t)n * 2 * (size_t)degree;
	input->n = n;
	input->first = calloc((size_t)n + 1, sizeof *input->first);
	input->edges = calloc(most ? most : 1, sizeof *input->edges);
	if (!input->first || !input->edges)
		return SS_NOMEM;
	for (int i = 0; i < n; i++) {
		for (int left = kernel_random_below(&state, 2 * (uint32_t)degree + 1); left > 0; left--) {
			int32_t target = kernel_random_below(&state, (uint32_t)n);
			int32_t weight = 1 + kernel_random_below(&state, FW_WEIGHT_MAX);
			if (target != i)
				input->edges[count++] = (struct fw_edge){target, weight};
		}
		input->first[i + 1] = count;
	}
	return SS_OK;
}

void fw_graph_free(struct fw_input *input) {
	free(input->first);
	free(input->edges);
	free(input->distances);
	*input = (struct fw_input){0};
}

/* The lightest of parallel edges counts. */
static void row_fill(const struct fw_state *s, int i, int from, int to) {
	const struct fw_input *g = s->input;
	for (size_t e = g->first[i]; e < g->first[i + 1]; e++) {
		int j = g->edges[e].target;
		if (j >= from && j < to && g->edges[e].weight < fw_cell_distance(s, i, j))
			fw_cell_set(s, i, j, g->edges[e].weight);
	}
	if (i >= from && i < to)
		fw_cell_set(s, i, i, 0);
}

/* Includes the padding, if any. */
static void tile_clear(const struct fw_state *s, int down, int across) {
	char *tile = fw_tile(s, down, across);
	if (s->form != FW_ROWS) {
		fw_cells_clear(s, tile, (size_t)s->rows * (size_t)s->columns);
		return;
	}
	for (int r = 0; r < fw_extent(s, down); r++)
		fw_cells_clear(s, tile + (size_t)r * s->pitch * FW_CELL, (size_t)fw_extent(s, across));
}

static void tile_fill(const struct fw_state *s, int down, int across) {
	int from = across * s->columns, to = from + s->columns < s->n ? from + s->columns : s->n;
	tile_clear(s, down, across);
	for (int i = down * s->rows; i < (down + 1) * s->rows && i < s->n; i++)
		row_fill(s, i, from, to);
}

void fw_graph_fill(const struct fw_state *s) {
#pragma omp parallel for collapse(2) schedule(runtime)
	for (int i = 0; i < s->down; i++)
		for (int j = 0; j < s->across; j++)
			tile_fill(s, i, j);
}
