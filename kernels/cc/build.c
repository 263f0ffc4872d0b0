/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows from edges. Two scatters make sorted rows: first every edge into both of its rows, in any order; then row after
 * row into the transpose, which is the same graph, and whose rows fill up in ascending order. */
#include <config.h>
#include <stdlib.h>

#include "kernels/cc/graph.h"

bool cc_pairs_grow(struct cc_pairs *pairs) {
	size_t room = pairs->room ? 2 * pairs->room : 1024, bytes;
	if (__builtin_mul_overflow(room, sizeof *pairs->pair, &bytes))
		return false;
	void *larger = realloc(pairs->pair, bytes);
	if (!larger)
		return false;
	pairs->pair = larger;
	pairs->room = room;
	return true;
}

void cc_pairs_free(struct cc_pairs *pairs) {
	free(pairs->pair);
	*pairs = (struct cc_pairs){0};
}

/* first[v + 1] becomes where row v begins; filling it moves that to where row v + 1 does. */
static size_t rows_begin(size_t *first, const struct cc_pairs *pairs) {
	size_t ends = 0;
	for (size_t i = 0; i < pairs->count; i++) {
		const int32_t *pair = pairs->pair[i];
		if (pair[0] != pair[1])
			first[pair[0] + 1]++, first[pair[1] + 1]++;
	}
	for (int32_t v = 0; v < pairs->n; v++) {
		size_t degree = first[v + 1];
		first[v + 1] = ends;
		ends += degree;
	}
	return ends;
}

static void rows_fill(size_t *first, int32_t *target, const struct cc_pairs *pairs) {
	for (size_t i = 0; i < pairs->count; i++) {
		const int32_t *pair = pairs->pair[i];
		if (pair[0] != pair[1]) {
			target[first[pair[0] + 1]++] = pair[1];
			target[first[pair[1] + 1]++] = pair[0];
		}
	}
}

static void rows_transpose(const struct cc_graph *from, int32_t *target, size_t *next) {
	for (int32_t v = 0; v < from->n; v++)
		next[v] = from->first[v];
	for (int32_t v = 0; v < from->n; v++)
		for (size_t e = from->first[v]; e < from->first[v + 1]; e++)
			target[next[from->target[e]]++] = v;
}

/* In place: rows only move down. */
static void rows_unique(struct cc_graph *graph) {
	size_t begin = 0, kept = 0;
	for (int32_t v = 0; v < graph->n; v++) {
		size_t end = graph->first[v + 1], row = kept;
		for (size_t e = begin; e < end; e++)
			if (kept == row || graph->target[kept - 1] != graph->target[e])
				graph->target[kept++] = graph->target[e];
		begin = end;
		graph->first[v + 1] = kept;
	}
	graph->ends = kept;
}

static enum ss_status graph_sort(struct cc_graph *graph) {
	int32_t *sorted = malloc((graph->ends + 1) * sizeof *sorted);
	size_t *next = malloc(((size_t)graph->n + 1) * sizeof *next);
	enum ss_status status = sorted && next ? SS_OK : SS_NOMEM;
	if (status == SS_OK) {
		rows_transpose(graph, sorted, next);
		free(graph->target);
		graph->target = sorted;
		rows_unique(graph);
		sorted = NULL;
	}
	free(sorted);
	free(next);
	return status;
}

enum ss_status cc_graph_build(struct cc_graph *graph, struct cc_pairs *pairs) {
	enum ss_status status = SS_NOMEM;
	graph->n = pairs->n;
	graph->first = calloc((size_t)graph->n + 1, sizeof *graph->first);
	if (graph->first) {
		graph->ends = rows_begin(graph->first, pairs);
		graph->target = malloc((graph->ends + 1) * sizeof *graph->target);
	}
	if (graph->target) {
		rows_fill(graph->first, graph->target, pairs);
		status = SS_OK;
	}
	cc_pairs_free(pairs);
	return status == SS_OK ? graph_sort(graph) : status;
}

void cc_graph_free(struct cc_graph *graph) {
	free(graph->first);
	free(graph->target);
	*graph = (struct cc_graph){0};
}
