/* SPDX-License-Identifier: BSD-3-Clause */
/* Like the k-mer graphs of genome assembly: long paths, few branches, numbered in no order, as k-mers are hashed. Each
 * path has a geometric length; nine in ten begin at a vertex of an earlier path, half of them end at one, too. A degree
 * above 2 adds edges between any two vertices; a degree of 1 leaves loose paths of two vertices in the mean. */
#include <stdlib.h>

#include "kernels/cc/cc.h"

enum { LENGTH = 64 };

struct walk {
	struct cc_pairs *pairs;
	const int32_t *name; /* of the vertex that was drawn at this place */
	uint64_t random;
	int32_t length; /* mean, of a path */
	bool branches;
};

static double kmer_degree(double n) {
	return n > 1 ? 2 : 0;
}

static void names_shuffle(int32_t *name, int32_t n, uint64_t *random) {
	for (int32_t i = 0; i < n; i++) {
		int32_t j = kernel_random_below(random, (uint32_t)i + 1);
		name[i] = name[j];
		name[j] = i;
	}
}

static bool edge_add(struct walk *w, int32_t a, int32_t b) {
	return cc_pairs_add(w->pairs, w->name[a], w->name[b]);
}

static bool branch_add(struct walk *w, int32_t from, int32_t before, int percent) {
	if (!w->branches || before == 0 || kernel_random_below(&w->random, 100) >= percent)
		return true;
	return edge_add(w, from, kernel_random_below(&w->random, (uint32_t)before));
}

/* The path that begins at `from`; returns the beginning of the next one, or -1. */
static int32_t path_add(struct walk *w, int32_t from) {
	int32_t v = from;
	if (!branch_add(w, v, from, 90))
		return -1;
	for (; v + 1 < w->pairs->n && kernel_random_below(&w->random, (uint32_t)w->length) > 0; v++)
		if (!edge_add(w, v, v + 1))
			return -1;
	return branch_add(w, v, from, 50) ? v + 1 : -1;
}

static bool chords_add(struct walk *w, int64_t count) {
	uint32_t n = (uint32_t)w->pairs->n;
	bool made = true;
	for (; made && count > 0; count--) {
		int32_t a = kernel_random_below(&w->random, n);
		made = edge_add(w, a, kernel_random_below(&w->random, n));
	}
	return made;
}

static bool kmer_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	int32_t *name = malloc((size_t)n * sizeof *name), at = 0;
	struct walk w = {pairs, name, seed, degree == 1 ? 2 : LENGTH, degree != 1};
	if (!name)
		return false;
	pairs->n = n;
	names_shuffle(name, n, &w.random);
	while (at >= 0 && at < n)
		at = path_add(&w, at);
	bool made = at >= 0 && chords_add(&w, degree > 2 ? (int64_t)n * (degree - 2) / 2 : 0);
	free(name);
	return made;
}

const struct cc_generator cc_kmer = {.name = "kmer", .make = kmer_make, .degree = kmer_degree};
