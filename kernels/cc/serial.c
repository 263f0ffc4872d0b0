/* SPDX-License-Identifier: BSD-3-Clause */
/* A single thread: union-find with Rem's algorithm and splicing, the fastest of those that Patwary, Blair and Manne
 * compare in "Experiments on union-find algorithms for the disjoint-set data structure", 2010. A pointer never leads
 * to a larger vertex, so the root is the smallest; and because rows ascend, each edge is visited from its larger end
 * only. */
#include "kernels/cc/cc.h"

/* Climbs from the side whose pointer is larger, and lets the vertices on its way point to the smaller one. */
static int unite(int32_t *label, int32_t a, int32_t b) {
	while (label[a] != label[b]) {
		if (label[a] < label[b]) {
			int32_t swap = a;
			a = b;
			b = swap;
		}
		int32_t above = label[a];
		label[a] = label[b];
		if (above == a)
			return 1;
		a = above;
	}
	return 0;
}

static void serial_run(struct cc_state *s) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	int64_t united = 0;
	for (int32_t v = 0; v < g.n; v++)
		for (size_t e = g.first[v]; e < g.first[v + 1] && g.target[e] < v; e++)
			united += unite(label, v, g.target[e]);
	for (int32_t v = 0; v < g.n; v++)
		label[v] = label[label[v]];
	KERNEL_COUNT(s->events, CC_EDGE_ENDS, g.ends / 2);
	KERNEL_COUNT(s->events, CC_LABEL_UPDATES, united);
	s->looked = g.ends / 2;
	cc_step_note(s, united);
}

const struct cc_variant KERNEL_COUNTED(cc_serial) = {.name = "serial", .run = serial_run};
