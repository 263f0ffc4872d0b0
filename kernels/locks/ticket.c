/* SPDX-License-Identifier: BSD-3-Clause */
/* Mellor-Crummey, Scott: Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/cells.h"
#include "kernels/locks/wait.h"

struct ticket_seat {
	atomic_uint *next, *serving;
};

static size_t ticket_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + 1);
}

static int ticket_init(void *lock, const struct lock_shape *shape) {
	cells_init(lock, shape);
	atomic_init((atomic_uint *)cells_at(lock, CELL_QUEUE), 0);
	atomic_init((atomic_uint *)cells_at(lock, CELL_REST), 0);
	return 0;
}

static inline struct ticket_seat ticket_seat(void *lock, int thread) {
	(void)thread;
	return (struct ticket_seat){cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST)};
}

/* A ticket says nothing of the data, so drawing one is relaxed; to see it served acquires what the owner before
 * released. */
static inline void ticket_acquire(struct ticket_seat seat) {
	unsigned mine = atomic_fetch_add_explicit(seat.next, 1, memory_order_relaxed);
	for (unsigned turns = 0; atomic_load_explicit(seat.serving, memory_order_acquire) != mine;)
		lock_wait(&turns);
}

/* Only the owner writes here: its own look may be relaxed, and the store need not be a read-modify-write. */
static inline void ticket_release(struct ticket_seat seat) {
	unsigned mine = atomic_load_explicit(seat.serving, memory_order_relaxed);
	atomic_store_explicit(seat.serving, mine + 1, memory_order_release);
}

static void ticket_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(ticket, "ticket lock", LOCK_FIFO);
