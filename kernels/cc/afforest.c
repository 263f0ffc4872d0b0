/* SPDX-License-Identifier: BSD-3-Clause */
/* Afforest: Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling", 2018.
 * Trees are linked along a few edges of every vertex. By then most vertices are in one component, found by a sample: of
 * those the other edges need not be read, as an edge that leads out of it is read from its other end. */
#include <config.h>

#include "kernels/cc/cc.h"

enum { SAMPLES = 1024 };

/* Joins the trees of a and b; true if two roots became one. Only a root is hooked, to a smaller vertex, and only while it
 * still is one: so no cycle comes up and no hook is lost. */
static bool trees_link(int32_t *label, int32_t a, int32_t b) {
	int32_t x = cc_load(&label[a]), y = cc_load(&label[b]);
	while (x != y) {
		int32_t high = x > y ? x : y, low = x > y ? y : x, above = cc_load(&label[high]);
		if (above == low)
			return false;
		if (above == high && cc_swap(&label[high], high, low))
			return true;
		x = cc_load(&label[cc_load(&label[high])]);
		y = cc_load(&label[low]);
	}
	return false;
}

static void round_link(struct cc_state *s, int round) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	int64_t linked = 0, looked = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : linked, looked)
	for (int32_t v = 0; v < g.n; v++) {
		size_t e = g.first[v] + (size_t)round;
		if (e < g.first[v + 1]) {
			linked += trees_link(label, v, g.target[e]);
			looked++;
		}
	}
	s->looked += (size_t)looked;
	cc_step_note(s, linked);
}

/* The label that a sample holds most often. Counted in a small open hash table; the same sample in every run. */
static int32_t giant_find(const struct cc_state *s) {
	int32_t seen[2 * SAMPLES], count[2 * SAMPLES] = {0}, giant = 0, most = 0;
	uint64_t random = 1;
	for (int i = 0; i < SAMPLES && s->graph.n > 0; i++) {
		int32_t label = s->label[cc_random_below(&random, (uint32_t)s->graph.n)];
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

static void rest_link(struct cc_state *s, int32_t giant) {
	const struct cc_graph g = s->graph;
	int32_t *label = s->label;
	size_t rounds = (size_t)s->rounds;
	int64_t linked = 0, looked = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : linked, looked)
	for (int32_t v = 0; v < g.n; v++) {
		if (cc_load(&label[v]) == giant)
			continue;
		for (size_t e = g.first[v] + rounds; e < g.first[v + 1]; e++, looked++)
			linked += trees_link(label, v, g.target[e]);
	}
	s->looked += (size_t)looked;
	cc_step_note(s, linked);
}

static void afforest_run(struct cc_state *s) {
	for (int round = 0; round < s->rounds; round++) {
		round_link(s, round);
		cc_labels_compress(s);
	}
	rest_link(s, giant_find(s));
	cc_labels_compress(s);
}

const struct cc_variant cc_afforest = {
	.name = "afforest",
	.summary = "trees linked along a few edges each, then along those outside the largest component",
	.run = afforest_run,
};
