/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock of one byte: test and test-and-set (Rudolph and Segall, "Dynamic decentralized cache schemes", 1984), which
 * leaves the processor to others after a while, because its holder may be waiting for it. */
#ifndef KERNELS_LISTS_SPIN_IMPL_H
#define KERNELS_LISTS_SPIN_IMPL_H
#include <sched.h>

#include "kernels/lists/list_impl.h"

enum { SPIN_TURNS = 128 /* some microseconds */ };

static inline void spin_pause(void) {
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#endif
}

static inline void spin_wait(const atomic_uchar *lock) {
	for (int turn = 0; atomic_load_explicit(lock, memory_order_relaxed); turn++)
		if (turn < SPIN_TURNS)
			spin_pause();
		else
			sched_yield();
}

static inline void spin_lock(atomic_uchar *lock, struct list_pool *pool) {
	bool held = false;
	for (; atomic_exchange_explicit(lock, 1, memory_order_acquire); held = true)
		spin_wait(lock);
	LIST_COUNT(pool, LIST_LOCKED, 1);
	LIST_COUNT(pool, LIST_CONTENDED, held);
}

static inline void spin_unlock(atomic_uchar *lock) {
	atomic_store_explicit(lock, 0, memory_order_release);
}
#endif
