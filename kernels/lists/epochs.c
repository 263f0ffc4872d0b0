/* SPDX-License-Identifier: BSD-3-Clause */
/* Epoch-based reclamation (Fraser, "Practical lock-freedom", 2004, section 5.2.3).
 *
 * An operation announces the epoch that it found. The epoch only advances when all threads inside an operation have
 * found the present one, so it is at most one ahead of any of them. A thread removes a node in its epoch e, before
 * it leaves; the epoch is then at most e + 1. So a thread that may still see the node announced e + 1 or less, and
 * while it is inside the epoch is at most e + 2. At e + 3 the node is free. The announcement and all links are
 * sequentially consistent: a thread that was not seen inside sees the links as they were when it was looked for. */
#include <config.h>

#include "kernels/lists/list.h"

enum { EPOCHS_TO_WAIT = 3 };

static bool all_in(struct list *list, uint64_t epoch) {
	for (int t = 0; t < list->threads; t++) {
		uint64_t announced = atomic_load(&list->pool[t].epoch);
		if (announced != LIST_OUTSIDE && announced != epoch)
			return false;
	}
	return true;
}

static void collect(struct list *list, struct list_pool *pool) {
	uint64_t epoch = atomic_load(&list->epoch);
	if (all_in(list, epoch) && atomic_compare_exchange_strong(&list->epoch, &epoch, epoch + 1))
		epoch++;
	for (; pool->freed < pool->retired && pool->limbo[pool->freed].epoch + EPOCHS_TO_WAIT <= epoch; pool->freed++)
		list_node_give(pool, pool->limbo[pool->freed].node);
	pool->due = pool->retired + LIST_RETIRED_A_TRY;
}

/* Advances the epoch between operations, when the thread itself does not hold anybody up. */
void list_enter(struct list *list, struct list_pool *pool) {
	if (pool->retired >= pool->due)
		collect(list, pool);
	atomic_store(&pool->epoch, atomic_load(&list->epoch));
}

void list_leave(struct list_pool *pool) {
	atomic_store_explicit(&pool->epoch, LIST_OUTSIDE, memory_order_release);
}
