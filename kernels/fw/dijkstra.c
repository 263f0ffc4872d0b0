/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: Dijkstra's algorithm (1959) from every vertex, with a binary heap from which outdated entries are dropped
 * when they come up. It shares nothing with Floyd-Warshall but the graph. Sources are independent: they run in
 * parallel. */
#include <stdlib.h>

#include "kernels/fw/fw.h"

/* A key is distance << 32 | vertex. */
struct heap {
	uint64_t *keys;
	size_t count;
};

static void heap_push(struct heap *heap, uint64_t key) {
	size_t at = heap->count++;
	for (; at > 0 && heap->keys[(at - 1) / 2] > key; at = (at - 1) / 2)
		heap->keys[at] = heap->keys[(at - 1) / 2];
	heap->keys[at] = key;
}

static uint64_t heap_pop(struct heap *heap) {
	uint64_t top = heap->keys[0], key = heap->keys[--heap->count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && heap->keys[child + 1] < heap->keys[child])
			child++;
		if (heap->keys[child] >= key)
			break;
		heap->keys[at] = heap->keys[child];
	}
	heap->keys[at] = key;
	return top;
}

static void vertex_scan(const struct fw_input *g, int v, int32_t *dist, struct heap *heap) {
	for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
		int32_t target = g->edges[e].target, through = dist[v] + g->edges[e].weight;
		if (through >= dist[target])
			continue;
		dist[target] = through;
		heap_push(heap, (uint64_t)through << 32 | (uint32_t)target);
	}
}

static void source_solve(const struct fw_input *g, int source, int32_t *dist, struct heap *heap) {
	for (int v = 0; v < g->n; v++)
		dist[v] = FW_INF;
	dist[source] = 0;
	heap_push(heap, (uint32_t)source);
	while (heap->count > 0) {
		uint64_t key = heap_pop(heap);
		int v = (int)(uint32_t)key;
		if ((int32_t)(key >> 32) == dist[v])
			vertex_scan(g, v, dist, heap);
	}
}

/* Every edge is pushed once at most, and the source. */
static int sources_solve(const struct fw_input *g, const int *sources, int count, int32_t *distances) {
	size_t n = (size_t)g->n;
	int failed = 0;
#pragma omp parallel reduction(| : failed)
	{
		struct heap heap = {malloc((g->first[n] + 1) * sizeof *heap.keys), 0};
		failed = !heap.keys;
#pragma omp for schedule(dynamic)
		for (int i = 0; i < count; i++)
			if (heap.keys)
				source_solve(g, sources ? sources[i] : i, distances + (size_t)i * n, &heap);
		free(heap.keys);
	}
	return failed;
}

enum ss_status fw_oracle_rows(const struct fw_input *input, const int *sources, int count, int32_t *distances) {
	return sources_solve(input, sources, count, distances) ? SS_NOMEM : SS_OK;
}

enum ss_status fw_oracle(struct fw_input *input) {
	size_t cells, bytes;
	if (input->distances)
		return SS_OK;
	if (__builtin_mul_overflow((size_t)input->n, (size_t)input->n, &cells) ||
	    __builtin_mul_overflow(cells, sizeof(int32_t), &bytes))
		return SS_NOMEM;
	int32_t *distances = malloc(bytes);
	if (!distances || sources_solve(input, NULL, input->n, distances)) {
		free(distances);
		return SS_NOMEM;
	}
	input->distances = distances;
	return SS_OK;
}
