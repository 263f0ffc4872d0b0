/* SPDX-License-Identifier: BSD-3-Clause */
/* Label propagation: a vertex takes the smallest label among its neighbours, until none changes. In place a label can
 * travel far in one step, along vertices that the same thread visits later; with two arrays it travels one edge. */
#include "kernels/cc/cc.h"

static int64_t sweep_inplace(struct cc_state *s) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	int64_t changed = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : changed)
	for (int32_t v = 0; v < g.n; v++) {
		int32_t own = cc_load(&label[v]), least = cc_least(&g, v, label, own);
		if (least < own) {
			cc_store(&label[v], least);
			changed++;
		}
		KERNEL_COUNT(s->events, CC_EDGE_ENDS, g.first[v + 1] - g.first[v]);
		KERNEL_COUNT(s->events, CC_LABEL_UPDATES, least < own);
	}
	return changed;
}

static int64_t sweep_synchronous(struct cc_state *s) {
	const struct cc_graph g = s->graph;
	const int32_t *before = s->label;
	int32_t *label = s->other;
	int64_t changed = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : changed)
	for (int32_t v = 0; v < g.n; v++) {
		label[v] = cc_least(&g, v, before, before[v]);
		changed += label[v] != before[v];
		KERNEL_COUNT(s->events, CC_EDGE_ENDS, g.first[v + 1] - g.first[v]);
		KERNEL_COUNT(s->events, CC_LABEL_UPDATES, label[v] != before[v]);
	}
	s->other = s->label;
	s->label = label;
	return changed;
}

static void rows_run(struct cc_state *s) {
	int64_t changed;
	do {
		changed = s->synchronous ? sweep_synchronous(s) : sweep_inplace(s);
		cc_step_note(s, changed);
		s->looked += s->graph.ends;
	} while (changed > 0);
}

const struct cc_variant KERNEL_COUNTED(cc_rows) = {.name = "rows", .run = rows_run};

/* Label propagation with pointer jumping. A label is read as a pointer to a vertex of the component: a thread that
 * finds a smaller label also gives it to the vertex that its own label names, and after each step all pointers are
 * followed to their ends. After Shiloach and Vishkin, "An O(log n) parallel connectivity algorithm", 1982, as Zhang,
 * Azad and Hu simplify it in "FastSV: a distributed-memory connected component algorithm with fast convergence",
 * 2020. */

static void label_lower(int32_t *label, int32_t to, int64_t *events) {
	for (int32_t now = cc_load(label); to < now; now = cc_load(label)) {
		if (cc_swap(label, now, to))
			break;
		KERNEL_COUNT(events, CC_CAS_FAILURES, 1);
	}
}

static int64_t sweep(struct cc_state *s) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	int64_t changed = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : changed)
	for (int32_t v = 0; v < g.n; v++) {
		int32_t own = cc_load(&label[v]), least = cc_least(&g, v, label, own);
		if (least < own) {
			label_lower(&label[own], least, KERNEL_EVENTS(s));
			label_lower(&label[v], least, KERNEL_EVENTS(s));
			changed++;
		}
		KERNEL_COUNT(s->events, CC_EDGE_ENDS, g.first[v + 1] - g.first[v]);
		KERNEL_COUNT(s->events, CC_LABEL_UPDATES, least < own);
	}
	return changed;
}

static void jump_run(struct cc_state *s) {
	int64_t changed;
	do {
		changed = sweep(s);
		cc_labels_compress(s);
		cc_step_note(s, changed);
		s->looked += s->graph.ends;
	} while (changed > 0);
}

const struct cc_variant KERNEL_COUNTED(cc_jump) = {.name = "jump", .run = jump_run};
