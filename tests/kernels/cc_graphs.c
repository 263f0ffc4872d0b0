/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cc: how graphs are built, the generators, the oracle. */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/cc_rig.h"
#include "tests/tap.h"

static bool has_edge(const struct cc_graph *g, int32_t from, int32_t to) {
	for (size_t e = g->first[from]; e < g->first[from + 1]; e++)
		if (g->target[e] == to)
			return true;
	return false;
}

static bool graph_sane(const struct cc_graph *g) {
	bool sane = g->first[0] == 0 && g->first[g->n] == g->ends && g->ends % 2 == 0;
	for (int32_t v = 0; sane && v < g->n; v++)
		for (size_t e = g->first[v]; sane && e < g->first[v + 1]; e++) {
			sane = g->target[e] >= 0 && g->target[e] < g->n && g->target[e] != v && has_edge(g, g->target[e], v);
			sane &= e == g->first[v] || g->target[e - 1] < g->target[e];
		}
	return sane;
}

/* A matrix beside the rows. */
static void build_test(void) {
	enum { N = 40 };
	bool right = true, in[N][N];
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct cc_graph graph = {0};
		struct cc_pairs pairs = {.n = N};
		uint64_t random = seed;
		memset(in, 0, sizeof in);
		for (uint64_t i = 0; i < 25 * seed; i++) {
			int32_t a = kernel_random_below(&random, N), b = kernel_random_below(&random, N);
			cc_pairs_add(&pairs, a, b);
			in[a][b] = in[b][a] = a != b;
		}
		right &= cc_graph_build(&graph, &pairs) == SS_OK && graph_sane(&graph);
		for (int32_t a = 0; a < N; a++)
			for (int32_t b = 0; b < N; b++)
				right &= has_edge(&graph, a, b) == (a != b && in[a][b]);
		cc_graph_free(&graph);
	}
	ok(right, "rows have the edges that were added, once, sorted, from both ends");
}

static bool same_graph(const struct cc_graph *a, const struct cc_graph *b) {
	return a->n == b->n && a->ends == b->ends && memcmp(a->target, b->target, a->ends * sizeof *a->target) == 0 &&
	       memcmp(a->first, b->first, ((size_t)a->n + 1) * sizeof *a->first) == 0;
}

static void seeds_test(const char *name) {
	struct cc_graph graph[3] = {0};
	bool built = true;
	for (int i = 0; i < 3; i++) {
		struct cc_pairs pairs = {0};
		built &= cc_generator_find(name)->make(&pairs, 3000, 0, i == 2 ? 8 : 7);
		built &= cc_graph_build(&graph[i], &pairs) == SS_OK && graph_sane(&graph[i]);
	}
	ok(built && same_graph(&graph[0], &graph[1]), "%s: sane, and the same from the same seed", name);
	ok(same_graph(&graph[0], &graph[2]) == (strcmp(name, "queen") == 0), "%s: another seed", name);
	for (int i = 0; i < 3; i++)
		cc_graph_free(&graph[i]);
}

static int64_t edges_of(const char *name, int32_t n, int degree, int32_t *vertices) {
	struct cc_graph graph = {0};
	struct cc_pairs pairs = {0};
	cc_generator_find(name)->make(&pairs, n, degree, 5);
	cc_graph_build(&graph, &pairs);
	int64_t edges = (int64_t)(graph.ends / 2);
	*vertices = graph.n;
	cc_graph_free(&graph);
	return edges;
}

static bool near(double value, double wanted, double share) {
	return fabs(value - wanted) <= share * wanted;
}

static void generators_test(void) {
	int32_t n;
	ok(edges_of("queen", 1000, 0, &n) == (28 * 28 * 28 - 1000) / 2 && n == 1000, "queen: a cube of 10 has 10476 edges");
	ok(edges_of("queen", 999, 6, &n) == 2700 && n == 1000, "queen: 2700 of them across faces; 999 is rounded up");
	ok(edges_of("queen", 1000, 18, &n) == 2700 + 6 * 9 * 9 * 10, "queen: and two diagonals in each plane");
	ok(edges_of("rgg", 20000, 10, &n) > 0 && near((double)edges_of("rgg", 20000, 10, &n), 1e5, .05),
	   "rgg: the mean degree asked for");
	ok(near((double)edges_of("rgg", 20000, 0, &n), 1e4 * cc_rgg.degree(20000), .05), "rgg: its own mean degree");
	int64_t edges = edges_of("rmat", 5000, 8, &n);
	ok(n == 8192 && edges > n * 2 && edges <= n * 4, "rmat: a power of two vertices, edges less duplicates");
	ok(near((double)edges_of("kmer", 20000, 0, &n), 20000, .05) && n == 20000, "kmer: about two neighbours a vertex");
	ok(near((double)edges_of("kmer", 20000, 6, &n), 60000, .05), "kmer: more where asked for");
	ok(edges_of("kmer", 20000, 1, &n) < 12000, "kmer: loose short paths with a degree of 1");
}

static void degrees_test(void) {
	struct live *live = open_built_in("rmat", "4096", "0");
	int32_t isolated = 0, most = 0;
	live_open(live);
	const struct cc_graph *g = &input_of(live)->graph;
	for (int32_t v = 0; v < g->n; v++) {
		int32_t degree = (int32_t)(g->first[v + 1] - g->first[v]);
		isolated += degree == 0;
		most = degree > most ? degree : most;
	}
	ok(isolated > 0 && most > 10 * 32, "rmat: isolated vertices, and some with very many neighbours");
	live_free(live);
}

/* Relaxes every edge until nothing changes. */
static void oracle_test(void) {
	bool right = true;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		struct cc_input input = {0};
		struct cc_pairs pairs = {.n = 50};
		uint64_t random = seed;
		int32_t label[50], (*pair)[2] = calloc(seed + 10, sizeof *pair), count = (int32_t)seed + 10;
		for (int32_t i = 0; i < count; i++) {
			pair[i][0] = kernel_random_below(&random, 50);
			pair[i][1] = kernel_random_below(&random, 50);
			cc_pairs_add(&pairs, pair[i][0], pair[i][1]);
		}
		for (int32_t v = 0; v < 50; v++)
			label[v] = v;
		for (int step = 0; step < 50; step++)
			for (int32_t i = 0; i < count; i++) {
				int32_t a = label[pair[i][0]], b = label[pair[i][1]];
				label[pair[i][0]] = label[pair[i][1]] = a < b ? a : b;
			}
		right &= cc_graph_build(&input.graph, &pairs) == SS_OK && cc_oracle(&input) == SS_OK;
		int32_t roots = 0;
		for (int32_t v = 0; v < 50; v++) {
			right &= input.expected[v] == label[v];
			roots += label[v] == v;
		}
		right &= input.components == roots;
		free(pair);
		kernel_cc.close(&input);
	}
	ok(right, "the oracle finds the same components as relaxing the edges until nothing changes");
}

int main(void) {
	static const char *const names[] = {"kmer", "rgg", "queen", "rmat"};
	build_test();
	oracle_test();
	for (int i = 0; i < 4; i++)
		seeds_test(names[i]);
	generators_test();
	degrees_test();
	return tap_done();
}
