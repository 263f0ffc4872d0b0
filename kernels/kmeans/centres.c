/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>
#include <string.h>

#include "kernels/kmeans/kmeans.h"

void kmeans_centres_first(const struct kmeans_input *input, double *centres) {
	for (size_t c = 0; c < input->clusters; c++)
		memcpy(centres + c * input->coords, input->objects + c % input->n * input->coords,
		       input->coords * sizeof *centres);
}

/* No coordinate is negative: cutting off after adding a half rounds to the nearest. */
static double grid_nearest(double x) {
	const double steps = (double)(1 << KMEANS_CENTRE_BITS);
	return (double)(int64_t)(x * steps + 0.5) / steps;
}

void kmeans_centre_move(const struct kmeans_state *s, size_t c) {
	size_t coords = s->input->coords;
	for (size_t j = 0; s->counts[c] > 0 && j < coords; j++)
		s->centres[c * coords + j] = grid_nearest(s->sums[c * coords + j] / (double)s->counts[c]);
}

void kmeans_centres_move(const struct kmeans_state *s) {
	for (size_t c = 0; c < s->input->clusters; c++)
		kmeans_centre_move(s, c);
}

void kmeans_table_clear(const struct kmeans_state *s, int table) {
	memset(kmeans_sums(s, table), 0, s->input->clusters * s->input->coords * sizeof *s->sums);
	memset(kmeans_counts(s, table), 0, s->input->clusters * sizeof *s->counts);
}

void kmeans_table_add(const struct kmeans_state *s, int table, int other) {
	double *sums = kmeans_sums(s, table), *more = kmeans_sums(s, other);
	int64_t *counts = kmeans_counts(s, table), *more_counts = kmeans_counts(s, other);
	for (size_t e = 0; e < s->input->clusters * s->input->coords; e++)
		sums[e] += more[e];
	for (size_t c = 0; c < s->input->clusters; c++)
		counts[c] += more_counts[c];
}

void kmeans_count_changes(const struct kmeans_state *s, size_t loop, int64_t own) {
	if (s->delta_shared)
		return;
#pragma omp atomic
	s->changed[loop] += (double)own;
}

double kmeans_inertia(const struct kmeans_state *s) {
	size_t coords = s->input->coords;
	double inertia = 0;
#pragma omp parallel for reduction(+ : inertia)
	for (size_t i = 0; i < s->input->n; i++) {
		const double *x = kmeans_object(s, i), *centre = s->centres + (size_t)s->membership[i] * coords;
		for (size_t j = 0; j < coords; j++)
			inertia += (x[j] - centre[j]) * (x[j] - centre[j]);
	}
	return inertia;
}

size_t kmeans_empty(const struct kmeans_state *s) {
	bool used[KMEANS_CLUSTERS_MAX] = {false};
	size_t empty = s->input->clusters;
	for (size_t i = 0; i < s->input->n; i++) {
		empty -= !used[s->membership[i]];
		used[s->membership[i]] = true;
	}
	return empty;
}
