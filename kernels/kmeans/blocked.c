/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast one: a block of objects is compared with all centres, many at a time (simd.c), and added up while it is
 * still in the first cache, so that a loop reads the objects from memory once. One parallel region; tables of their
 * own, which the team adds up cluster by cluster. */
#include "kernels/kmeans/kmeans.h"

static void objects_assign(const struct kmeans_state *s, size_t loop, int thread) {
	double *sums = kmeans_sums(s, thread);
	int64_t *counts = kmeans_counts(s, thread), changed = 0;
	size_t n = s->input->n, block = s->block;
#pragma omp for schedule(runtime) nowait
	for (size_t first = 0; first < n; first += block) {
		size_t count = n - first < block ? n - first : block;
		int64_t moved = s->isa->assign(s, first, count, sums, counts);
		changed += moved;
		KERNEL_COUNT(s->events, KMEANS_MOVED, moved);
		KERNEL_COUNT(s->events, KMEANS_ASSIGNED, count);
	}
	kmeans_count_changes(s, loop, changed);
}

/* The wide form of the centres: panels of 8 clusters; in a panel a row of |c|^2 / 2, then a row for
 * each coordinate. Clusters that only fill up the last panel are infinitely far away. */
static void kmeans_wide_centre(const struct kmeans_state *s, size_t c) {
	size_t coords = s->input->coords;
	const double *centre = s->centres + c * coords;
	double *column = s->wide + (c - c % KMEANS_PANEL) * (coords + 1) + c % KMEANS_PANEL;
	double norm = 0;
	for (size_t j = 0; j < coords; j++) {
		norm += centre[j] * centre[j];
		column[(j + 1) * KMEANS_PANEL] = centre[j];
	}
	*column = norm / 2;
}

/* All centres, and the columns that are none. */
static void kmeans_wide_fill(const struct kmeans_state *s) {
	for (size_t c = 0; c < s->input->clusters; c++)
		kmeans_wide_centre(s, c);
	for (size_t c = s->input->clusters; c < s->panels * KMEANS_PANEL; c++)
		s->wide[(c - c % KMEANS_PANEL) * (s->input->coords + 1) + c % KMEANS_PANEL] = __builtin_inf();
}

static void cluster_collect(const struct kmeans_state *s, size_t c, int team) {
	size_t coords = s->input->coords;
	for (int t = 1; t < team; t++) {
		const double *more = kmeans_sums(s, t) + c * coords;
		for (size_t j = 0; j < coords; j++)
			s->sums[c * coords + j] += more[j];
		s->counts[c] += kmeans_counts(s, t)[c];
	}
	kmeans_centre_move(s, c);
	kmeans_wide_centre(s, c);
}

static void loop_run(const struct kmeans_state *s, size_t loop) {
	int thread = omp_get_thread_num(), team = omp_get_num_threads();
	kmeans_table_clear(s, thread);
	objects_assign(s, loop, thread);
#pragma omp barrier
#pragma omp for schedule(static)
	for (size_t c = 0; c < s->input->clusters; c++)
		cluster_collect(s, c, team);
}

static void blocked_run(const struct kmeans_state *s) {
	kmeans_wide_fill(s);
#pragma omp parallel num_threads(s->threads)
	for (size_t loop = 0; loop < s->input->loops; loop++)
		loop_run(s, loop);
}

const struct kmeans_variant KERNEL_COUNTED(kmeans_blocked) = {
	.name = "blocked", .copies = true, .wide = true, .run = blocked_run};
