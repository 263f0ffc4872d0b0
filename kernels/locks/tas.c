/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/wait.h"

struct tas_seat {
	atomic_uint *held;
};

static size_t tas_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(atomic_uint);
}

static int tas_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	atomic_init((atomic_uint *)lock, 0);
	return 0;
}

static inline struct tas_seat tas_seat(void *lock, int thread) {
	(void)thread;
	return (struct tas_seat){lock};
}

/* Acquire pairs with the release of the thread that left, so its writes are visible. */
static inline void tas_acquire(struct tas_seat seat, struct lock_events *events) {
	for (unsigned turns = 0; atomic_exchange_explicit(seat.held, 1, memory_order_acquire); LOCK_LOST(events))
		lock_wait(&turns);
}

static inline void tas_release(struct tas_seat seat) {
	atomic_store_explicit(seat.held, 0, memory_order_release);
}

static void tas_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(tas, "test-and-set: every try writes to the line", 0);
