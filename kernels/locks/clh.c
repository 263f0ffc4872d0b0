/* SPDX-License-Identifier: BSD-3-Clause */
/* Craig: Building FIFO and Priority-Queuing Spin Locks from Atomic Swap, 1993; Magnusson, Landin, Hagersten: Queue
 * Locks on Cache Coherent Multiprocessors, 1994. Every thread waits at its predecessor's node and takes that node
 * over when it leaves. Cells: the queue's last node; the spare node, and one for each thread; a cell for each
 * thread. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/cells.h"
#include "kernels/locks/wait.h"

struct clh_node {
	atomic_uint held;
};

struct clh_thread {
	struct clh_node *own, *before;
};

struct clh_seat {
	_Atomic(struct clh_node *) *last;
	struct clh_thread *thread;
};

static size_t clh_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + 1 + 2 * (size_t)shape->threads);
}

static int clh_init(void *lock, const struct lock_shape *shape) {
	size_t threads = (size_t)shape->threads;
	cells_init(lock, shape);
	((struct cells *)lock)->count = (unsigned)shape->threads;
	for (size_t i = 0; i <= threads; i++)
		atomic_init(&((struct clh_node *)cells_at(lock, CELL_REST + i))->held, 0);
	atomic_init((_Atomic(struct clh_node *) *)cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + threads));
	for (size_t i = 0; i < threads; i++)
		*(struct clh_thread *)cells_at(lock, CELL_REST + 1 + threads + i) =
			(struct clh_thread){cells_at(lock, CELL_REST + i), NULL};
	return 0;
}

static inline struct clh_seat clh_seat(void *lock, int thread) {
	unsigned threads = ((struct cells *)lock)->count;
	return (struct clh_seat){cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + 1 + threads + (size_t)thread)};
}

/* The exchange releases the relaxed store before it to the successor, and acquires the predecessor's, so that its
 * node does not look free from an earlier round; seeing it free later acquires what the previous owner released. */
static inline void clh_acquire(struct clh_seat seat, struct lock_events *events) {
	struct clh_node *own = seat.thread->own;
	atomic_store_explicit(&own->held, 1, memory_order_relaxed);
	struct clh_node *before = atomic_exchange_explicit(seat.last, own, memory_order_acq_rel);
	seat.thread->before = before;
	for (unsigned turns = 0; atomic_load_explicit(&before->held, memory_order_acquire); LOCK_WAITED(events))
		lock_wait(&turns);
}

static inline void clh_release(struct clh_seat seat) {
	struct clh_node *own = seat.thread->own, *before = seat.thread->before;
	atomic_store_explicit(&own->held, 0, memory_order_release);
	seat.thread->own = before;
}

static void clh_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(clh, "CLH queue: waits at the predecessor's node", LOCK_FIFO);
