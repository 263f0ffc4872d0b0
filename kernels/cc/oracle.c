/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: breadth-first search from every vertex not yet reached, in ascending order. */
#include <config.h>
#include <stdlib.h>

#include "kernels/cc/cc.h"

/* Prefetches the vertices of the next few steps, because in a large graph without any numbering order every access is
 * to distant memory. */
static void search_prefetch(const struct cc_graph *g, const int32_t *label, const int32_t *queue, int32_t head,
                            int32_t tail) {
	enum { FIRST = 24, TARGET = 16, LABEL = 8, LABELS = 8 };
	if (head + FIRST < tail)
		__builtin_prefetch(&g->first[queue[head + FIRST]]);
	if (head + TARGET < tail)
		__builtin_prefetch(&g->target[g->first[queue[head + TARGET]]]);
	if (head + LABEL >= tail)
		return;
	int32_t v = queue[head + LABEL];
	for (size_t e = g->first[v]; e < g->first[v + 1] && e < g->first[v] + LABELS; e++)
		__builtin_prefetch(&label[g->target[e]], 1);
}

/* Visits all vertices connected with `source`; returns their number. */
static int32_t component_search(const struct cc_graph *g, int32_t source, int32_t *label, int32_t *queue) {
	int32_t head = 0, tail = 0;
	label[source] = source;
	queue[tail++] = source;
	while (head < tail) {
		search_prefetch(g, label, queue, head, tail);
		int32_t v = queue[head++];
		for (size_t e = g->first[v]; e < g->first[v + 1]; e++)
			if (label[g->target[e]] < 0) {
				label[g->target[e]] = source;
				queue[tail++] = g->target[e];
			}
	}
	return tail;
}

enum ss_status cc_oracle(struct cc_input *input) {
	size_t n = (size_t)input->graph.n;
	if (input->expected)
		return SS_OK;
	int32_t *label = malloc((n + 1) * sizeof *label), *queue = malloc((n + 1) * sizeof *queue);
	if (!label || !queue) {
		free(label);
		free(queue);
		return SS_NOMEM;
	}
	for (size_t v = 0; v < n; v++)
		label[v] = -1;
	for (int32_t v = 0; v < input->graph.n; v++)
		if (label[v] < 0) {
			int32_t size = component_search(&input->graph, v, label, queue);
			input->largest = size > input->largest ? size : input->largest;
			input->components++;
		}
	free(queue);
	input->expected = label;
	return SS_OK;
}
