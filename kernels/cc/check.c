/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels against the oracle, and against the edges. */
#include <stdlib.h>

#include "kernels/cc/cc.h"
#include "kernels/fail.h"

/* The oracle: breadth-first search from every vertex not yet reached, in ascending order. */

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

/* Both ends of an edge must have one label: that holds whatever the oracle says. */
static bool edges_agree(const struct cc_state *s, int32_t v) {
	for (size_t e = s->graph.first[v]; e < s->graph.first[v + 1]; e++)
		if (s->label[s->graph.target[e]] != s->label[v])
			return false;
	return true;
}

/* The first vertex of a wrong label, and the first whose neighbour has another. */
static void wrong_find(const struct cc_state *s, int team, bool edges, int32_t *wrong_at, int32_t *torn_at) {
	int32_t wrong = s->graph.n, torn = s->graph.n;
#pragma omp parallel for num_threads(team) reduction(min : wrong, torn)
	for (int32_t v = 0; v < s->graph.n; v++) {
		if (v < wrong && s->label[v] != s->input->expected[v])
			wrong = v;
		if (edges && v < torn && !edges_agree(s, v))
			torn = v;
	}
	*wrong_at = wrong;
	*torn_at = torn;
}

/* On a device the edges are looked at until labels were right once: what equals those agrees, too. */
enum ss_status cc_labels_check(void *opaque, const struct ss_call *call) {
	const struct cc_state *s = opaque;
	int32_t wrong, torn, n = s->graph.n;
	if (cc_oracle(s->input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %d labels", (int)n);
	wrong_find(s, call->gpu ? cc_team(s->graph.ends) : call->threads, !call->gpu || !s->input->agreed, &wrong, &torn);
	if (wrong < n)
		return kernel_wrong(call, "vertex %d has label %d, should be %d", (int)wrong, (int)s->label[wrong],
		                    (int)s->input->expected[wrong]);
	if (torn < n)
		return kernel_wrong(call, "vertex %d has label %d, a neighbour another", (int)torn, (int)s->label[torn]);
	s->input->agreed = true;
	return SS_OK;
}
