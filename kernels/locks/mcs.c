/* SPDX-License-Identifier: BSD-3-Clause */
/* Mellor-Crummey, Scott: Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991. Cells: the
 * queue's last node, a node each. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/cells.h"
#include "kernels/locks/wait.h"

struct mcs_node {
	_Atomic(struct mcs_node *) next;
	atomic_uint held;
};
_Static_assert(sizeof(struct mcs_node) <= CELL_SIZE, "a node is a cell");

struct mcs_seat {
	_Atomic(struct mcs_node *) *last;
	struct mcs_node *node;
};

static size_t mcs_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + (size_t)shape->threads);
}

static int mcs_init(void *lock, const struct lock_shape *shape) {
	cells_init(lock, shape);
	atomic_init((_Atomic(struct mcs_node *) *)cells_at(lock, CELL_QUEUE), NULL);
	return 0;
}

static inline struct mcs_seat mcs_seat(void *lock, int thread) {
	return (struct mcs_seat){cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + (size_t)thread)};
}

/* The exchange releases the empty node to the successor that will write into it, and acquires what the previous
 * owner released when it left the queue empty. Linking releases `held`; seeing it lowered acquires what its owner
 * released. */
static inline void mcs_acquire(struct mcs_seat seat, struct lock_events *events) {
	atomic_store_explicit(&seat.node->next, NULL, memory_order_relaxed);
	struct mcs_node *before = atomic_exchange_explicit(seat.last, seat.node, memory_order_acq_rel);
	if (!before)
		return;
	atomic_store_explicit(&seat.node->held, 1, memory_order_relaxed);
	atomic_store_explicit(&before->next, seat.node, memory_order_release);
	for (unsigned turns = 0; atomic_load_explicit(&seat.node->held, memory_order_acquire); LOCK_WAITED(events))
		lock_wait(&turns);
}

/* `next` is acquired so that lowering its `held` comes after the successor raised it. */
static inline void mcs_release(struct mcs_seat seat) {
	struct mcs_node *next = atomic_load_explicit(&seat.node->next, memory_order_acquire), *last = seat.node;
	if (!next &&
	    atomic_compare_exchange_strong_explicit(seat.last, &last, NULL, memory_order_release, memory_order_relaxed))
		return;
	for (unsigned turns = 0; !next; next = atomic_load_explicit(&seat.node->next, memory_order_acquire))
		lock_wait(&turns);
	atomic_store_explicit(&next->held, 0, memory_order_release);
}

static void mcs_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(mcs, "MCS queue: waits at its own node", LOCK_FIFO);
