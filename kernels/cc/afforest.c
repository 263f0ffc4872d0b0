/* SPDX-License-Identifier: BSD-3-Clause */
/* Afforest: Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
 * 2018. Trees are linked along a few edges of every vertex. By then most vertices are in one component, found by a
 * sample: of those the other edges need not be read, as an edge that leads out of it is read from its other end. */
#include "kernels/cc/cc.h"

/* Joining the trees of an edge's two ends, by many threads at once. Both return whether two roots became one. A pointer
 * only ever moves to a smaller vertex, by compare and swap: so no cycle comes up, and no hook is lost. */
/* Hooks the larger root to the smaller vertex: Sutton, Ben-Nun and Barak, 2018 (see afforest.c). */
static inline bool cc_link_hook(int32_t *label, int32_t a, int32_t b, int64_t *events) {
	int32_t x = cc_load(&label[a]), y = cc_load(&label[b]);
	while (x != y) {
		int32_t high = x > y ? x : y, low = x > y ? y : x, above = cc_load(&label[high]);
		if (above == low)
			return false;
		if (above == high) {
			if (cc_swap(&label[high], high, low))
				return true;
			KERNEL_COUNT(events, CC_CAS_FAILURES, 1);
		}
		x = cc_load(&label[cc_load(&label[high])]);
		y = cc_load(&label[low]);
	}
	return false;
}

/* Rem's algorithm with splicing: climbs from the end with the larger pointer and bends that to the smaller one on the
 * way. What is cut off is joined again by the climb from above it. Patwary, Refsnes and Manne, "Multi-core spanning
 * forest algorithms using the disjoint-set data structure", 2012; with compare and swap instead of locks in Dhulipala,
 * Hong and Shun, "ConnectIt: a framework for static and incremental parallel graph connectivity algorithms", 2020. */
static inline bool cc_link_splice(int32_t *label, int32_t a, int32_t b, int64_t *events) {
	for (;;) {
		int32_t x = cc_load(&label[a]), y = cc_load(&label[b]);
		if (x == y)
			return false;
		int32_t climber = x > y ? a : b, from = x > y ? x : y, to = x > y ? y : x;
		bool bent = cc_swap(&label[climber], from, to);
		if (bent && from == climber)
			return true;
		KERNEL_COUNT(events, CC_CAS_FAILURES, !bent);
		if (x > y)
			a = from;
		else
			b = from;
	}
}

enum { SAMPLES = 1024 };

/* Along the edges number `from` to `to` of every vertex but those labelled `skipped`. */
static void edges_link(struct cc_state *s, size_t from, size_t to, int32_t skipped) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	bool splice = s->splice;
	int64_t linked = 0, looked = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : linked, looked)
	for (int32_t v = 0; v < g.n; v++) {
		size_t degree = g.first[v + 1] - g.first[v], end = degree < to ? degree : to;
		if (from >= end || cc_load(&label[v]) == skipped)
			continue;
		int64_t before = linked;
		looked += (int64_t)(end - from);
		for (const int32_t *target = g.target + g.first[v] + from; target < g.target + g.first[v] + end; target++)
			linked += splice ? cc_link_splice(label, v, *target, KERNEL_EVENTS(s))
			                 : cc_link_hook(label, v, *target, KERNEL_EVENTS(s));
		KERNEL_COUNT(s->events, CC_LABEL_UPDATES, linked - before);
		KERNEL_COUNT(s->events, CC_EDGE_ENDS, end - from);
	}
	s->looked += (size_t)looked;
	cc_step_note(s, linked);
}

/* Spliced trees stay flat: they need no compression between the rounds, and a vertex's edges are read at once. */
static void sample_link(struct cc_state *s) {
	size_t rounds = (size_t)s->rounds, step = s->splice ? rounds : 1;
	for (size_t from = 0; from < rounds; from += step) {
		edges_link(s, from, from + step, -1);
		cc_labels_compress(s);
	}
}

/* The label that a sample holds most often. Counted in a small open hash table; the same sample in every run. */
static int32_t giant_find(const struct cc_state *s) {
	int32_t seen[2 * SAMPLES], count[2 * SAMPLES] = {0}, giant = 0, most = 0;
	uint64_t random = 1;
	for (int i = 0; i < SAMPLES && s->graph.n > 0; i++) {
		int32_t label = s->label[kernel_random_below(&random, (uint32_t)s->graph.n)];
		uint32_t at = (uint32_t)label * UINT32_C(2654435769) % (2 * SAMPLES);
		while (count[at] > 0 && seen[at] != label)
			at = (at + 1) % (2 * SAMPLES);
		seen[at] = label;
		if (++count[at] > most) {
			most = count[at];
			giant = label;
		}
	}
	return giant;
}

static void afforest_run(struct cc_state *s) {
	sample_link(s);
	edges_link(s, (size_t)s->rounds, SIZE_MAX, giant_find(s));
	cc_labels_compress(s);
}

const struct cc_variant KERNEL_COUNTED(cc_afforest) = {.name = "afforest", .run = afforest_run};
