/* SPDX-License-Identifier: BSD-3-Clause */
/* One table of sums and counts for all threads, protected by an atomic operation for each number, or by a critical
 * section or a lock for each object. With `none` threads overwrite each other's additions: a lower bound of the time
 * without a valid result. */
#include <string.h>

#include "kernels/kmeans/kmeans.h"

typedef void shared_add(const struct kmeans_state *s, size_t c, const double *x);

static inline void add_atomic(const struct kmeans_state *s, size_t c, const double *x) {
	size_t coords = s->input->coords;
	for (size_t j = 0; j < coords; j++)
#pragma omp atomic
		s->sums[c * coords + j] += x[j];
#pragma omp atomic
	s->counts[c]++;
	KERNEL_COUNT(s->events, KMEANS_ATOMICS, coords + 1);
}

static inline void add_critical(const struct kmeans_state *s, size_t c, const double *x) {
#pragma omp critical(kmeans_table)
	kmeans_add(s->sums, s->counts, c, x, s->input->coords);
	KERNEL_COUNT(s->events, KMEANS_LOCKED, 1);
}

static inline void add_locked(const struct kmeans_state *s, size_t c, const double *x) {
	int thread = omp_get_thread_num();
	s->lock->acquire(s->lock_memory, thread);
	kmeans_add(s->sums, s->counts, c, x, s->input->coords);
	s->lock->release(s->lock_memory, thread);
	KERNEL_COUNT(s->events, KMEANS_LOCKED, 1);
}

static inline void add_bare(const struct kmeans_state *s, size_t c, const double *x) {
	kmeans_add(s->sums, s->counts, c, x, s->input->coords);
}

/* Inlined with each `add`, so that no call through a pointer is timed. */
__attribute__((always_inline)) static inline void objects_assign(const struct kmeans_state *s, size_t loop,
                                                                 shared_add *add) {
	int64_t changed = 0;
#pragma omp for schedule(runtime) nowait
	for (size_t i = 0; i < s->input->n; i++) {
		const double *x = kmeans_object(s, i);
		size_t c = kmeans_nearest(s, x);
		if (kmeans_enter(s, i, c)) {
			kmeans_count_change(s, loop, &changed);
			KERNEL_COUNT(s->events, KMEANS_MOVED, 1);
		}
		KERNEL_COUNT(s->events, KMEANS_ASSIGNED, 1);
		add(s, c, x);
	}
	kmeans_count_changes(s, loop, changed);
}

static void loop_run(const struct kmeans_state *s, size_t loop) {
	kmeans_table_clear(s, 0);
#pragma omp parallel num_threads(s->threads)
	{
		if (s->lock)
			objects_assign(s, loop, add_locked);
		else if (strcmp(s->sync, "atomic") == 0)
			objects_assign(s, loop, add_atomic);
		else if (strcmp(s->sync, "critical") == 0)
			objects_assign(s, loop, add_critical);
		else
			objects_assign(s, loop, add_bare);
	}
	kmeans_centres_move(s);
}

static void shared_run(const struct kmeans_state *s) {
	for (size_t loop = 0; loop < s->input->loops; loop++)
		loop_run(s, loop);
}

const struct kmeans_variant KERNEL_COUNTED(kmeans_shared) = {.name = "shared", .run = shared_run};
