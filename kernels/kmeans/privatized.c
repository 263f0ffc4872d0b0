/* SPDX-License-Identifier: BSD-3-Clause */
/* Each thread adds to a table of its own; the tables are added up at the end of a loop, by the main thread or pairwise
 * by all. Without padding the tables of different threads share lines, and a thread that adds takes the line away from
 * its neighbour: false sharing, worst where tables are tiny. */
#include "kernels/kmeans/kmeans.h"

static void objects_assign(const struct kmeans_state *s, size_t loop, int thread) {
	double *sums = kmeans_sums(s, thread);
	int64_t *counts = kmeans_counts(s, thread), changed = 0;
#pragma omp for schedule(runtime) nowait
	for (size_t i = 0; i < s->input->n; i++) {
		const double *x = kmeans_object(s, i);
		size_t c = kmeans_nearest(s, x);
		if (kmeans_enter(s, i, c)) {
			kmeans_count_change(s, loop, &changed);
			KERNEL_COUNT(s->events, KMEANS_MOVED, 1);
		}
		KERNEL_COUNT(s->events, KMEANS_ASSIGNED, 1);
		kmeans_add(sums, counts, c, x, s->input->coords);
	}
	kmeans_count_changes(s, loop, changed);
}

static void kmeans_table_add(const struct kmeans_state *s, int table, int other) {
	double *sums = kmeans_sums(s, table), *more = kmeans_sums(s, other);
	int64_t *counts = kmeans_counts(s, table), *more_counts = kmeans_counts(s, other);
	for (size_t e = 0; e < s->input->clusters * s->input->coords; e++)
		sums[e] += more[e];
	for (size_t c = 0; c < s->input->clusters; c++)
		counts[c] += more_counts[c];
}

/* Called by the whole team. */
static void tables_add_tree(const struct kmeans_state *s, int thread, int team) {
	for (int apart = 1; apart < team; apart *= 2) {
#pragma omp barrier
		if (thread % (2 * apart) == 0 && thread + apart < team)
			kmeans_table_add(s, thread, thread + apart);
	}
}

static void loop_run(const struct kmeans_state *s, size_t loop) {
	int team = 1;
#pragma omp parallel num_threads(s->threads)
	{
		int thread = omp_get_thread_num();
		kmeans_table_clear(s, thread);
		objects_assign(s, loop, thread);
		if (s->reduction == KMEANS_REDUCE_TREE)
			tables_add_tree(s, thread, omp_get_num_threads());
		if (thread == 0)
			team = omp_get_num_threads();
	}
	if (s->reduction == KMEANS_REDUCE_SERIAL)
		for (int t = 1; t < team; t++)
			kmeans_table_add(s, 0, t);
	kmeans_centres_move(s);
}

static void privatized_run(const struct kmeans_state *s) {
	for (size_t loop = 0; loop < s->input->loops; loop++)
		loop_run(s, loop);
}

const struct kmeans_variant KERNEL_COUNTED(kmeans_privatized) = {
	.name = "privatized", .copies = true, .run = privatized_run};
