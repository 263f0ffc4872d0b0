/* SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"

struct mutex_seat {
	pthread_mutex_t *mutex;
};

static size_t mutex_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(pthread_mutex_t);
}

static int mutex_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	return pthread_mutex_init(lock, NULL) == 0 ? 0 : -1;
}

static inline struct mutex_seat mutex_seat(void *lock, int thread) {
	(void)thread;
	return (struct mutex_seat){lock};
}

static inline void mutex_acquire(struct mutex_seat seat, struct lock_events *events) {
	if (LOCK_COUNTING && pthread_mutex_trylock(seat.mutex) == 0)
		return;
	LOCK_WAITED(events);
	pthread_mutex_lock(seat.mutex);
}

static inline void mutex_release(struct mutex_seat seat) {
	pthread_mutex_unlock(seat.mutex);
}

static void mutex_destroy(void *lock) {
	pthread_mutex_destroy(lock);
}

LOCK_KIND(mutex, "pthread_mutex_t", LOCK_RETRIES_HIDDEN);
