/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds rows from edges, with as many threads as there are processors: every edge goes into both of its rows, in
 * any order, and then each row is sorted. So neither the order of the edges nor that of the threads shows in the
 * result. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cc/cc.h"

enum { SMALL = 1 << 16 /* not worth a team */, INSERTION = 48 };

int cc_team(size_t work) {
	return work < SMALL ? 1 : omp_get_num_procs();
}

static bool pairs_grow(struct cc_pairs *pairs) {
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

bool cc_pairs_add(struct cc_pairs *pairs, int32_t a, int32_t b) {
	if (pairs->count == pairs->room && !pairs_grow(pairs))
		return false;
	pairs->pair[pairs->count][0] = a;
	pairs->pair[pairs->count++][1] = b;
	return true;
}

bool cc_pairs_reserve(struct cc_pairs *pairs, size_t count) {
	size_t bytes;
	if (__builtin_mul_overflow(count + 1, sizeof *pairs->pair, &bytes))
		return false;
	pairs->pair = malloc(bytes);
	pairs->room = pairs->pair ? count + 1 : 0;
	return pairs->pair;
}

/* counts[v] becomes the sum of those before v; returns the sum of all. */
static size_t sums_before(size_t *counts, size_t n) {
	size_t sum = 0;
	for (size_t v = 0; v < n; v++) {
		size_t count = counts[v];
		counts[v] = sum;
		sum += count;
	}
	return sum;
}

bool cc_pairs_join(struct cc_pairs *pairs, cc_joiner join, const void *what) {
	enum { CHUNK = 1024 };
	int64_t n = pairs->n, chunks = (n + CHUNK - 1) / CHUNK;
	size_t *begin = calloc((size_t)chunks + 1, sizeof *begin);
	bool made = begin;
	for (int pass = 0; made && pass < 2; pass++) {
#pragma omp parallel for num_threads(cc_team((size_t)n)) schedule(dynamic)
		for (int64_t c = 0; c < chunks; c++) {
			size_t at = pass == 0 ? 0 : begin[c];
			for (int64_t v = c * CHUNK; v < n && v < (c + 1) * CHUNK; v++)
				at += join(what, (int32_t)v, pass == 0 ? NULL : pairs->pair + at);
			if (pass == 0)
				begin[c] = at;
		}
		if (pass == 0) {
			pairs->count = sums_before(begin, (size_t)chunks);
			made = cc_pairs_reserve(pairs, pairs->count);
		}
	}
	free(begin);
	return made;
}

/* first[v + 1] becomes where row v begins; filling it moves that to where row v + 1 does. */
static size_t rows_begin(size_t *first, const struct cc_pairs *pairs) {
#pragma omp parallel for num_threads(cc_team(pairs->count))
	for (size_t i = 0; i < pairs->count; i++) {
		const int32_t *pair = pairs->pair[i];
		for (int end = 0; pair[0] != pair[1] && end < 2; end++)
#pragma omp atomic
			first[pair[end] + 1]++;
	}
	return sums_before(first + 1, (size_t)pairs->n);
}

static void rows_fill(size_t *first, int32_t *target, const struct cc_pairs *pairs) {
#pragma omp parallel for num_threads(cc_team(pairs->count))
	for (size_t i = 0; i < pairs->count; i++) {
		const int32_t *pair = pairs->pair[i];
		for (int end = 0; pair[0] != pair[1] && end < 2; end++) {
			size_t at;
#pragma omp atomic capture
			at = first[pair[end] + 1]++;
			target[at] = pair[1 - end];
		}
	}
}

static int targets_compare(const void *a, const void *b) {
	const int32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void row_sort(int32_t *row, size_t count) {
	if (count > INSERTION) {
		qsort(row, count, sizeof *row, targets_compare);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		int32_t moved = row[i];
		size_t at = i;
		for (; at > 0 && row[at - 1] > moved; at--)
			row[at] = row[at - 1];
		row[at] = moved;
	}
}

static size_t row_unique(int32_t *row, size_t count) {
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || row[kept - 1] != row[i])
			row[kept++] = row[i];
	return kept;
}

/* begin[v] becomes where row v will begin; returns how many entries are left. */
static size_t rows_sort(const struct cc_graph *graph, size_t *begin) {
#pragma omp parallel for num_threads(cc_team(graph->ends)) schedule(dynamic, 1024)
	for (int32_t v = 0; v < graph->n; v++) {
		int32_t *row = graph->target + graph->first[v];
		size_t count = graph->first[v + 1] - graph->first[v];
		row_sort(row, count);
		begin[v] = row_unique(row, count);
	}
	return sums_before(begin, (size_t)graph->n);
}

/* The rows without the gaps that duplicates have left. */
static bool rows_pack(struct cc_graph *graph, size_t *begin, size_t kept) {
	int32_t *packed = malloc((kept + 1) * sizeof *packed);
	if (!packed)
		return false;
	begin[graph->n] = kept;
#pragma omp parallel for num_threads(cc_team(kept)) schedule(dynamic, 1024)
	for (int32_t v = 0; v < graph->n; v++)
		memcpy(packed + begin[v], graph->target + graph->first[v], (begin[v + 1] - begin[v]) * sizeof *packed);
	free(graph->target);
	free(graph->first);
	graph->target = packed;
	graph->first = begin;
	graph->ends = kept;
	return true;
}

static enum ss_status graph_sort(struct cc_graph *graph) {
	size_t *begin = malloc(((size_t)graph->n + 1) * sizeof *begin);
	if (!begin)
		return SS_NOMEM;
	size_t kept = rows_sort(graph, begin);
	if (kept < graph->ends && rows_pack(graph, begin, kept))
		return SS_OK;
	free(begin);
	return kept < graph->ends ? SS_NOMEM : SS_OK;
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
