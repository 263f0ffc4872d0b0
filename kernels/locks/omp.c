/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"

struct omp_seat {
	omp_lock_t *lock;
};

static size_t omp_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(omp_lock_t);
}

static int omp_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	omp_init_lock(lock);
	return 0;
}

static inline struct omp_seat omp_seat(void *lock, int thread) {
	(void)thread;
	return (struct omp_seat){lock};
}

static inline void omp_acquire(struct omp_seat seat, struct lock_events *events) {
	if (LOCK_COUNTING && omp_test_lock(seat.lock))
		return;
	LOCK_WAITED(events);
	omp_set_lock(seat.lock);
}

static inline void omp_release(struct omp_seat seat) {
	omp_unset_lock(seat.lock);
}

static void omp_destroy(void *lock) {
	omp_destroy_lock(lock);
}

LOCK_KIND(omp, "omp_lock_t", LOCK_RETRIES_HIDDEN);
