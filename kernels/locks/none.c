/* SPDX-License-Identifier: BSD-3-Clause */
/* No lock at all: the cost of the loop. */
#include "kernels/locks/contest.h"
#include "kernels/locks/registry.h"

struct none_seat {
	void *lock;
};

static size_t none_size(const struct lock_shape *shape) {
	(void)shape;
	return sizeof(int);
}

static int none_init(void *lock, const struct lock_shape *shape) {
	(void)lock, (void)shape;
	return 0;
}

static inline struct none_seat none_seat(void *lock, int thread) {
	(void)thread;
	return (struct none_seat){lock};
}

/* The compiler must read and write the data in every section, as with the others. */
static inline void none_acquire(struct none_seat seat, struct lock_events *events) {
	(void)events;
	__asm__ volatile("" : : "r"(seat.lock) : "memory");
}

static inline void none_release(struct none_seat seat) {
	__asm__ volatile("" : : "r"(seat.lock) : "memory");
}

static void none_destroy(void *lock) {
	(void)lock;
}

LOCK_KIND(none, "no lock: incorrect, a lower bound of the time", LOCK_UNSAFE);
