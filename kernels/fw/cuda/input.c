/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph, its edges by the vertex that they lead to, and what Dijkstra's algorithm says of it. */
#include <config.h>
#include <stdlib.h>

#include "kernels/fw/cuda/fw_cuda.h"
#include "kernels/random.h"

/* A counting sort: while it places the edges, into[j] moves from the beginning of the edges to j to their end. */
enum ss_status fw_cuda_input_turn(struct fw_cuda_input *input) {
	const struct fw_input *g = &input->graph;
	input->into = calloc((size_t)g->n + 1, sizeof *input->into);
	input->edges = calloc(g->first[g->n] + 1, sizeof *input->edges);
	if (!input->into || !input->edges)
		return SS_NOMEM;
	for (size_t e = 0; e < g->first[g->n]; e++)
		input->into[g->edges[e].target + 1]++;
	for (int j = 0; j < g->n; j++)
		input->into[j + 1] += input->into[j];
	for (int i = 0; i < g->n; i++)
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
			input->edges[input->into[g->edges[e].target]++] = (struct fw_edge){i, g->edges[e].weight};
	for (int j = g->n; j > 0; j--)
		input->into[j] = input->into[j - 1];
	input->into[0] = 0;
	return SS_OK;
}

enum ss_status fw_cuda_input_new(struct fw_cuda_input *input, int n, int degree, uint64_t seed) {
	enum ss_status status = fw_graph_random(&input->graph, n, degree, seed);
	return status == SS_OK ? fw_cuda_input_turn(input) : status;
}

void fw_cuda_input_free(struct fw_cuda_input *input) {
	fw_graph_free(&input->graph);
	free(input->into);
	free(input->edges);
	free(input->sources);
	free(input->rows);
	*input = (struct fw_cuda_input){.count = 0};
}

/* All vertices, or the first, the last and some between. */
static void sources_choose(int *sources, int count, int n, uint64_t seed) {
	for (int i = 0; i < count; i++)
		sources[i] = count == n ? i : i == 0 ? 0 : i == 1 ? n - 1 : kernel_random_below(&seed, (uint32_t)n);
}

enum ss_status fw_cuda_input_oracle(struct fw_cuda_input *input, uint64_t seed) {
	int n = input->graph.n, count = n <= FW_CUDA_ROWS_ALL ? n : FW_CUDA_ROWS_SOME;
	if (input->rows)
		return SS_OK;
	int *sources = calloc((size_t)count, sizeof *sources);
	int32_t *rows = calloc((size_t)count * (size_t)n, sizeof *rows);
	if (sources && rows) {
		sources_choose(sources, count, n, seed);
		if (fw_oracle_rows(&input->graph, sources, count, rows) == SS_OK) {
			input->sources = sources;
			input->rows = rows;
			input->count = count;
			return SS_OK;
		}
	}
	free(sources);
	free(rows);
	return SS_NOMEM;
}
