/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"

struct spin_seat {
	pthread_spinlock_t *spin;
};

static size_t spin_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(pthread_spinlock_t);
}

static int spin_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	return pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE) == 0 ? 0 : -1;
}

static inline struct spin_seat spin_seat(void *lock, int thread) {
	(void)thread;
	return (struct spin_seat){lock};
}

static inline void spin_acquire(struct spin_seat seat, struct lock_events *events) {
	if (LOCK_COUNTING && pthread_spin_trylock(seat.spin) == 0)
		return;
	LOCK_WAITED(events);
	pthread_spin_lock(seat.spin);
}

static inline void spin_release(struct spin_seat seat) {
	pthread_spin_unlock(seat.spin);
}

static void spin_destroy(void *lock) {
	pthread_spin_destroy(lock);
}

LOCK_KIND(spin, "pthread_spinlock_t", LOCK_RETRIES_HIDDEN);
