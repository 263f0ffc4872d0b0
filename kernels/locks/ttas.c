/* SPDX-License-Identifier: BSD-3-Clause */
/* Rudolph, Segall: Dynamic Decentralized Cache Schemes for MIMD Parallel Processors, 1984. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/wait.h"

struct ttas_seat {
	atomic_uint *held;
};

static size_t ttas_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(atomic_uint);
}

static int ttas_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	atomic_init((atomic_uint *)lock, 0);
	return 0;
}

static inline struct ttas_seat ttas_seat(void *lock, int thread) {
	(void)thread;
	return (struct ttas_seat){lock};
}

/* The load is relaxed, because nothing follows from it; the exchange acquires what the release published. */
static inline void ttas_acquire(struct ttas_seat seat, struct lock_events *events) {
	for (unsigned turns = 0; atomic_exchange_explicit(seat.held, 1, memory_order_acquire); LOCK_LOST(events))
		do
			lock_wait(&turns);
		while (atomic_load_explicit(seat.held, memory_order_relaxed));
}

static inline void ttas_release(struct ttas_seat seat) {
	atomic_store_explicit(seat.held, 0, memory_order_release);
}

static void ttas_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(ttas, "test-and-test-and-set: waiting only reads", 0);
