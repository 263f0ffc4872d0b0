/* SPDX-License-Identifier: BSD-3-Clause */
/* Anderson: The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990: a thread that lost
 * stays away, twice as long each time. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/wait.h"

enum { BACKOFF_FIRST = 4, BACKOFF_LAST = 1024 }; /* pauses */

struct backoff_seat {
	atomic_uint *held;
};

static size_t backoff_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(atomic_uint);
}

static int backoff_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	atomic_init((atomic_uint *)lock, 0);
	return 0;
}

static inline struct backoff_seat backoff_seat(void *lock, int thread) {
	(void)thread;
	return (struct backoff_seat){lock};
}

/* When the longest time has passed, too, the owner may be off its CPU. */
static inline unsigned backoff_wait(unsigned pauses) {
	for (unsigned i = 0; i < pauses; i++)
		lock_pause();
	if (pauses < BACKOFF_LAST)
		return 2 * pauses;
	lock_yield();
	return pauses;
}

/* The load is relaxed, because nothing follows from it; the exchange acquires what the release published. */
static inline void backoff_acquire(struct backoff_seat seat, struct lock_events *events) {
	for (unsigned pauses = BACKOFF_FIRST; atomic_exchange_explicit(seat.held, 1, memory_order_acquire);
	     LOCK_LOST(events))
		do
			pauses = backoff_wait(pauses);
		while (atomic_load_explicit(seat.held, memory_order_relaxed));
}

static inline void backoff_release(struct backoff_seat seat) {
	atomic_store_explicit(seat.held, 0, memory_order_release);
}

static void backoff_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(backoff, "test-and-test-and-set with exponential backoff", 0);
