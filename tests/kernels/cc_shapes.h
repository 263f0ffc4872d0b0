/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs whose components are known. */
#ifndef TESTS_KERNELS_CC_SHAPES_H
#define TESTS_KERNELS_CC_SHAPES_H
#include "kernels/cc/cc.h"

/* A graph by hand: `join` adds the edges; `label` is what vertex v must end with. */
struct shape {
	const char *name;
	int n;
	void (*join)(struct cc_pairs *pairs);
	int (*label)(int v, int n);
};

static void join_nothing(struct cc_pairs *pairs) {
	(void)pairs;
}

static void join_path(struct cc_pairs *pairs) {
	for (int32_t v = 1; v < pairs->n; v++)
		cc_pairs_add(pairs, v - 1, v);
}

/* Every second vertex up, then the others down: labels must travel the whole way. */
static void join_zigzag(struct cc_pairs *pairs) {
	for (int32_t v = 2; v < pairs->n; v++)
		cc_pairs_add(pairs, v, v - 2);
	cc_pairs_add(pairs, pairs->n - 2, pairs->n - 1);
}

static void join_star(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n - 1; v++)
		cc_pairs_add(pairs, pairs->n - 1, v);
}

static void join_cycle(struct cc_pairs *pairs) {
	join_path(pairs);
	cc_pairs_add(pairs, pairs->n - 1, 0);
}

/* One of the even, one of the odd vertices. */
static void join_cliques(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n; v++)
		for (int32_t w = v % 2; w < v; w += 2)
			cc_pairs_add(pairs, v, w);
}

/* Pairs (v, n - 1 - v), each several times, and loops. */
static void join_mess(struct cc_pairs *pairs) {
	for (int32_t v = 0; v < pairs->n; v++) {
		cc_pairs_add(pairs, v, v);
		cc_pairs_add(pairs, v, pairs->n - 1 - v);
		cc_pairs_add(pairs, v, pairs->n - 1 - v);
	}
}

static int label_own(int v, int n) {
	(void)n;
	return v;
}

static int label_zero(int v, int n) {
	(void)v, (void)n;
	return 0;
}

static int label_parity(int v, int n) {
	(void)n;
	return v % 2;
}

static int label_mirror(int v, int n) {
	return v < n - 1 - v ? v : n - 1 - v;
}

static const struct shape shapes[] = {
	{"no edges", 100, join_nothing, label_own},      {"one vertex", 1, join_nothing, label_own},
	{"a path", 300, join_path, label_zero},          {"a path that folds back", 200, join_zigzag, label_zero},
	{"a star", 500, join_star, label_zero},          {"a cycle", 129, join_cycle, label_zero},
	{"two cliques", 60, join_cliques, label_parity}, {"loops and duplicates", 77, join_mess, label_mirror},
};

#endif
