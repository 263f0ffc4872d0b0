/* SPDX-License-Identifier: BSD-3-Clause */
/* Anderson: The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990: every thread waits at a
 * place of its own in a ring. Cells: the next place, a place each, a thread each. */
#include <stdatomic.h>

#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"
#include "kernels/locks/cells.h"
#include "kernels/locks/wait.h"

struct array_thread {
	unsigned place; /* the slot that it entered */
};

struct array_seat {
	void *lock;
	atomic_uint *next;
	struct array_thread *own;
	unsigned mask;
};

/* A power of two, so that places stay in turn when the counter wraps; at least one a thread, so that no two threads
 * wait at the same one. */
static unsigned array_places(const struct lock_shape *shape) {
	unsigned places = 1;
	while (places < (unsigned)shape->threads)
		places *= 2;
	return places;
}

static inline atomic_uint *array_open(void *lock, unsigned place) {
	return cells_at(lock, CELL_REST + place);
}

static size_t array_size(const struct lock_shape *shape) {
	return cells_size(shape, CELL_REST + array_places(shape) + (size_t)shape->threads);
}

static int array_init(void *lock, const struct lock_shape *shape) {
	cells_init(lock, shape);
	((struct cells *)lock)->count = array_places(shape);
	atomic_init((atomic_uint *)cells_at(lock, CELL_QUEUE), 0);
	for (unsigned place = 0; place < array_places(shape); place++)
		atomic_init(array_open(lock, place), place == 0);
	return 0;
}

static inline struct array_seat array_seat(void *lock, int thread) {
	unsigned places = ((struct cells *)lock)->count;
	return (struct array_seat){lock, cells_at(lock, CELL_QUEUE), cells_at(lock, CELL_REST + places + (size_t)thread),
	                           places - 1};
}

/* A slot does not reveal any data, so taking one is relaxed; seeing it open acquires the writes that its previous
 * owner released. Closing it is relaxed, because the thread that opens it next comes after the release of this
 * thread. */
static inline void array_acquire(struct array_seat seat, struct lock_events *events) {
	unsigned place = atomic_fetch_add_explicit(seat.next, 1, memory_order_relaxed) & seat.mask;
	atomic_uint *open = array_open(seat.lock, place);
	for (unsigned turns = 0; !atomic_load_explicit(open, memory_order_acquire); LOCK_WAITED(events))
		lock_wait(&turns);
	atomic_store_explicit(open, 0, memory_order_relaxed);
	seat.own->place = place;
}

static inline void array_release(struct array_seat seat) {
	atomic_uint *open = array_open(seat.lock, (seat.own->place + 1) & seat.mask);
	atomic_store_explicit(open, 1, memory_order_release);
}

static void array_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(array, "Anderson's array lock: a ring of slots", LOCK_FIFO);
