/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: the same algorithm in whole numbers. Coordinates count 2^-12, centres 2^-21; squares of 21 bits, 1024 of
 * them added, and sums of 2^30 objects fit in 64 bits. Assignments are independent: they run in parallel. */
#include <stdlib.h>
#include <string.h>

#include "kernels/answer.h"
#include "kernels/fail.h"
#include "kernels/kmeans/kmeans.h"

#define FINER (INT64_C(1) << (KMEANS_CENTRE_BITS - KMEANS_OBJECT_BITS))

struct whole {
	size_t n, coords, clusters;
	const double *objects;
	int64_t *centres, *sums, *counts;
	int32_t *membership;
};

static int64_t coordinate(const struct whole *w, size_t i, size_t j) {
	return (int64_t)(w->objects[i * w->coords + j] * (double)(1 << KMEANS_OBJECT_BITS));
}

static int32_t nearest(const struct whole *w, size_t i) {
	int64_t x[KMEANS_COORDS_MAX], least = INT64_MAX;
	size_t found = 0;
	for (size_t j = 0; j < w->coords; j++)
		x[j] = coordinate(w, i, j) * FINER;
	for (size_t c = 0; c < w->clusters; c++) {
		int64_t distance = 0;
		for (size_t j = 0; j < w->coords; j++) {
			int64_t apart = x[j] - w->centres[c * w->coords + j];
			distance += apart * apart;
		}
		if (distance < least) {
			least = distance;
			found = c;
		}
	}
	return (int32_t)found;
}

static int64_t objects_assign(struct whole *w) {
	int64_t changed = 0;
#pragma omp parallel for reduction(+ : changed)
	for (size_t i = 0; i < w->n; i++) {
		int32_t c = nearest(w, i);
		changed += c != w->membership[i];
		w->membership[i] = c;
	}
	return changed;
}

static void centres_average(struct whole *w) {
	for (size_t e = 0; e < w->clusters * w->coords; e++)
		w->sums[e] = 0;
	for (size_t c = 0; c < w->clusters; c++)
		w->counts[c] = 0;
	for (size_t i = 0; i < w->n; i++) {
		size_t c = (size_t)w->membership[i];
		w->counts[c]++;
		for (size_t j = 0; j < w->coords; j++)
			w->sums[c * w->coords + j] += coordinate(w, i, j);
	}
	for (size_t e = 0; e < w->clusters * w->coords; e++) {
		int64_t count = w->counts[e / w->coords];
		if (count > 0) /* to the nearest: the half is added in units of 1 / (2 count) */
			w->centres[e] = (2 * FINER * w->sums[e] + count) / (2 * count);
	}
}

static void whole_solve(struct whole *w, struct kmeans_input *input) {
	for (size_t i = 0; i < w->n; i++)
		w->membership[i] = -1;
	for (size_t c = 0; c < w->clusters; c++)
		for (size_t j = 0; j < w->coords; j++)
			w->centres[c * w->coords + j] = coordinate(w, c % w->n, j) * FINER;
	for (size_t loop = 0; loop < input->loops; loop++) {
		input->changed[loop] = objects_assign(w);
		centres_average(w);
	}
	for (size_t e = 0; e < w->clusters * w->coords; e++)
		input->centres[e] = (double)w->centres[e] / (double)(1 << KMEANS_CENTRE_BITS);
}

enum ss_status kmeans_oracle(struct kmeans_input *input, const struct ss_call *call) {
	size_t entries = input->clusters * input->coords;
	if (input->membership)
		return SS_OK;
	struct whole w = {input->n,
	                  input->coords,
	                  input->clusters,
	                  input->objects,
	                  malloc(entries * sizeof *w.centres),
	                  malloc(entries * sizeof *w.sums),
	                  malloc(input->clusters * sizeof *w.counts),
	                  malloc(input->n * sizeof *w.membership)};
	free(input->centres);
	free(input->changed);
	input->centres = malloc(entries * sizeof *input->centres);
	input->changed = malloc(input->loops * sizeof *input->changed);
	const struct kernel_part parts[] = {{w.membership, input->n * sizeof *w.membership},
	                                    {input->centres, entries * sizeof *input->centres},
	                                    {input->changed, input->loops * sizeof *input->changed}};
	enum ss_status status = SS_NOMEM;
	if (w.centres && w.sums && w.counts && w.membership && input->centres && input->changed) {
		if (!kernel_answer_recall(call, parts, 3)) {
			whole_solve(&w, input);
			kernel_answer_keep(call, parts, 3);
		}
		input->membership = w.membership;
		w.membership = NULL;
		status = SS_OK;
	}
	free(w.centres);
	free(w.sums);
	free(w.counts);
	free(w.membership);
	return status;
}

static enum ss_status objects_check(const struct kmeans_state *s, const struct ss_call *call) {
	const struct kmeans_input *in = s->input;
	size_t first = in->n;
#pragma omp parallel for reduction(min : first)
	for (size_t i = 0; i < in->n; i++) {
		int32_t found = s->membership[i];
		bool exists = found >= 0 && (size_t)found < in->clusters;
		if ((!exists || (!s->lossy && found != in->membership[i])) && i < first)
			first = i;
	}
	if (first < in->n) {
		size_t i = first;
		int32_t found = s->membership[i];
		if (found < 0 || (size_t)found >= in->clusters)
			return kernel_wrong(call, "object %zu is in cluster %d of %zu", i, (int)found, in->clusters);
		return kernel_wrong(call, "object %zu is in cluster %d, should be in %d", i, (int)found,
		                    (int)in->membership[i]);
	}
	return SS_OK;
}

/* Whether updates got lost or not, an average of coordinates is a number. */
static enum ss_status centres_check(const struct kmeans_state *s, const struct ss_call *call) {
	const struct kmeans_input *in = s->input;
	for (size_t e = 0; e < in->clusters * in->coords; e++) {
		double found = s->centres[e], right = in->centres[e];
		if (s->lossy ? !(found >= 0 && found <= (double)KMEANS_N_MAX) : found != right)
			return kernel_wrong(call, "coordinate %zu of centre %zu is %.17g, should be %.17g", e % in->coords,
			                    e / in->coords, found, right);
	}
	return SS_OK;
}

/* A racy counter can only fall behind. */
static enum ss_status changes_check(const struct kmeans_state *s, const struct ss_call *call) {
	for (size_t loop = 0; loop < s->input->loops; loop++) {
		double found = s->changed[loop], right = (double)s->input->changed[loop];
		if (s->delta_shared ? found > right : found != right)
			return kernel_wrong(call, "loop %zu: %.0f objects changed, should be %.0f", loop, found, right);
	}
	return SS_OK;
}

enum ss_status kmeans_compare(const struct kmeans_state *s, const struct ss_call *call) {
	enum ss_status status = objects_check(s, call);
	if (status == SS_OK)
		status = centres_check(s, call);
	if (status == SS_OK && !s->lossy)
		status = changes_check(s, call);
	return status;
}

void kmeans_centres_first(const struct kmeans_input *input, double *centres) {
	for (size_t c = 0; c < input->clusters; c++)
		memcpy(centres + c * input->coords, input->objects + c % input->n * input->coords,
		       input->coords * sizeof *centres);
}

void kmeans_centres_move(const struct kmeans_state *s) {
	for (size_t c = 0; c < s->input->clusters; c++)
		kmeans_centre_move(s, c);
}

void kmeans_table_clear(const struct kmeans_state *s, int table) {
	memset(kmeans_sums(s, table), 0, s->input->clusters * s->input->coords * sizeof *s->sums);
	memset(kmeans_counts(s, table), 0, s->input->clusters * sizeof *s->counts);
}

void kmeans_count_changes(const struct kmeans_state *s, size_t loop, int64_t own) {
	if (s->delta_shared)
		return;
#pragma omp atomic
	s->changed[loop] += (double)own;
}
