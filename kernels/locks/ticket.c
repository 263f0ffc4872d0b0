/* SPDX-License-Identifier: BSD-3-Clause */
/* Mellor-Crummey, Scott: Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/cells.h"
#include "kernels/locks/wait.h"

/* Both on one line: a thread that draws a ticket reads the other number next, and then the line is there. */
struct ticket {
	atomic_uint next, serving;
};

struct ticket_seat {
	struct ticket *ticket;
};

static size_t ticket_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST);
}

static int ticket_init(void *lock, const struct lock_shape *shape) {
	cells_init(lock, shape);
	struct ticket *ticket = cells_at(lock, CELL_QUEUE);
	atomic_init(&ticket->next, 0);
	atomic_init(&ticket->serving, 0);
	return 0;
}

static inline struct ticket_seat ticket_seat(void *lock, int thread) {
	(void)thread;
	return (struct ticket_seat){cells_at(lock, CELL_QUEUE)};
}

/* A ticket does not reveal any data, so drawing one is relaxed; seeing it served acquires what the previous owner
 * released. */
static inline void ticket_acquire(struct ticket_seat seat, struct lock_events *events) {
	unsigned mine = atomic_fetch_add_explicit(&seat.ticket->next, 1, memory_order_relaxed);
	for (unsigned turns = 0; atomic_load_explicit(&seat.ticket->serving, memory_order_acquire) != mine;
	     LOCK_WAITED(events))
		lock_wait(&turns);
}

/* Only the owner writes here: its own look may be relaxed, and the store need not be a read-modify-write. */
static inline void ticket_release(struct ticket_seat seat) {
	unsigned mine = atomic_load_explicit(&seat.ticket->serving, memory_order_relaxed);
	atomic_store_explicit(&seat.ticket->serving, mine + 1, memory_order_release);
}

static void ticket_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(ticket, "ticket lock", LOCK_FIFO);
