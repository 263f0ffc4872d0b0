/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled into the lists before their own headers (-include): before a thread takes a lock, or looks at or changes a
 * link or a mark, it now and then leaves the processor to another thread, so that operations interleave in many ways,
 * whatever the machine. And nodes are used again as soon as they can be. */
#ifndef TESTS_KERNELS_STEPS_H
#define TESTS_KERNELS_STEPS_H
#include <sched.h>
#include <stdatomic.h>

#define LIST_RETIRED_A_TRY 1
#include "kernels/lists/list_impl.h"

static inline void step(void) {
	static _Thread_local uint32_t state;
	if (state == 0)
		state = (uint32_t)((uintptr_t)&state >> 4) | 1;
	state ^= state << 13; /* Marsaglia, "Xorshift RNGs", 2003 */
	state ^= state >> 17;
	state ^= state << 5;
	if (state % 8 == 0)
		sched_yield();
}

#undef atomic_load
#undef atomic_store
#undef atomic_compare_exchange_strong
#define atomic_load(object)         (step(), atomic_load_explicit(object, memory_order_seq_cst))
#define atomic_store(object, value) (step(), atomic_store_explicit(object, value, memory_order_seq_cst))
#define atomic_compare_exchange_strong(object, expected, value)                                                        \
	(step(),                                                                                                           \
	 atomic_compare_exchange_strong_explicit(object, expected, value, memory_order_seq_cst, memory_order_seq_cst))
#define list_next(node)       (step(), list_next(node))
#define spin_lock(lock, pool) (step(), spin_lock(lock, pool))

#endif
