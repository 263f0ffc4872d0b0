/* SPDX-License-Identifier: BSD-3-Clause */
/* Drepper: Futexes Are Tricky, 2011, the second mutex: 0 free, 1 held, 2 held and somebody may sleep. Before it sleeps,
 * a thread spins for a while. */
#include <linux/futex.h>
#include <stdatomic.h>
#include <unistd.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/wait.h"

enum { FUTEX_FREE, FUTEX_HELD, FUTEX_SLEEPERS };
enum { FUTEX_TRIES = 128 }; /* pauses before a thread sleeps */

struct futex_seat {
	atomic_uint *word;
};

static size_t futex_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(atomic_uint);
}

static int futex_init(void *lock, const struct lock_shape *shape) {
	(void)shape;
	atomic_init((atomic_uint *)lock, FUTEX_FREE);
	return 0;
}

static inline struct futex_seat futex_seat(void *lock, int thread) {
	(void)thread;
	return (struct futex_seat){lock};
}

/* A thread that slept cannot know whether others still sleep, so it holds the lock as if they did. */
__attribute__((noinline)) static void futex_sleep(atomic_uint *word, struct lock_events *events) {
	for (; atomic_exchange_explicit(word, FUTEX_SLEEPERS, memory_order_acquire) != FUTEX_FREE; LOCK_LOST(events))
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, FUTEX_SLEEPERS, NULL, NULL, 0);
}

/* The successful exchange, here or before sleep, acquires what the previous owner released; a failed one reveals
 * nothing. */
static inline void futex_acquire(struct futex_seat seat, struct lock_events *events) {
	for (int i = 0; i < FUTEX_TRIES; i++) {
		unsigned found = atomic_load_explicit(seat.word, memory_order_relaxed);
		bool free = found == FUTEX_FREE;
		if (free && atomic_compare_exchange_weak_explicit(seat.word, &found, FUTEX_HELD, memory_order_acquire,
		                                                  memory_order_relaxed))
			return;
		if (free)
			LOCK_RETRIED(events);
		if (found != FUTEX_FREE)
			LOCK_WAITED(events);
		lock_pause();
	}
	futex_sleep(seat.word, events);
}

static inline void futex_release(struct futex_seat seat) {
	if (atomic_exchange_explicit(seat.word, FUTEX_FREE, memory_order_release) == FUTEX_SLEEPERS)
		syscall(SYS_futex, seat.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(futex, "spins for a while, then sleeps in the kernel", 0);
