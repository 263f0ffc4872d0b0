/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks without locks, locks the two nodes it is about, and walks again to see that they are still in the list (Herlihy
 * and Shavit 2008, section 9.6). */
#include "kernels/lists/pair_tile.h"

static struct list_node *walk(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = &list->head, *node = atomic_load(&before->next);
	while (node->key < key) {
		before = node;
		node = atomic_load(&node->next);
		LIST_COUNT(pool, LIST_PASSED, 1);
	}
	return before;
}

/* A node that was removed keeps its successor, so that a walk that is on it finds its way back into the list. */
static bool still_there(struct list *list, struct list_pool *pool, const struct list_node *before,
                        const struct list_node *node) {
	struct list_node *at = &list->head;
	while (at->key < before->key) {
		at = atomic_load(&at->next);
		LIST_COUNT(pool, LIST_PASSED, 1);
	}
	return at == before && atomic_load(&before->next) == node;
}

static struct list_node *lock_before(struct list *list, struct list_pool *pool, int32_t key) {
	for (;; LIST_COUNT(pool, LIST_RESTARTED, 1)) {
		struct list_node *before = walk(list, pool, key), *node = atomic_load(&before->next);
		if (node->key < key)
			continue;
		spin_lock(&before->lock, pool);
		spin_lock(&node->lock, pool);
		if (still_there(list, pool, before, node))
			return before;
		unlock(before, node);
	}
}

static bool optimistic_contains(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = lock_before(list, pool, key), *node = atomic_load(&before->next);
	bool found = node->key == key;
	unlock(before, node);
	return found;
}

static bool optimistic_remove(struct list *list, struct list_pool *pool, int32_t key) {
	return pair_remove(list, pool, key, false);
}

const struct list_kind KERNEL_COUNTED(list_optimistic) = {.name = "optimistic",
                                                          .flags = LIST_WALKED,
                                                          .contains = optimistic_contains,
                                                          .add = pair_add,
                                                          .remove = optimistic_remove};
