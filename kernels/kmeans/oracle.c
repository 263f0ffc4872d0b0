/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: the same algorithm in whole numbers. Coordinates count 2^-12, centres 2^-21; squares of 21 bits, 1024 of
 * them added, and sums of 2^30 objects fit in 64 bits. Assignments are independent: they run in parallel. */
#include <config.h>
#include <stdlib.h>

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

enum ss_status kmeans_oracle(struct kmeans_input *input) {
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
	enum ss_status status = SS_NOMEM;
	if (w.centres && w.sums && w.counts && w.membership && input->centres && input->changed) {
		whole_solve(&w, input);
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
