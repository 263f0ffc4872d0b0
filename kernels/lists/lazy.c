/* SPDX-License-Identifier: BSD-3-Clause */
/* A node is marked as removed before it is unlinked, so that a look at two nodes replaces the second walk, and contains
 * takes no lock and never waits (Heller, Herlihy, Luchangco, Moir, Scherer and Shavit, "A lazy concurrent list-based
 * set algorithm", 2005; Herlihy and Shavit 2008, section 9.7).
 *
 * The deciding stores, of the mark and of the link, are sequentially consistent: with less, a thread could look past
 * its own removal that others do not see yet, and two removals by two threads would not be ordered. */
#include "kernels/lists/pair_tile.h"

static struct list_node *lock_before(struct list *list, struct list_pool *pool, int32_t key) {
	for (;;) {
		struct list_node *before = &list->head, *node = atomic_load(&before->next);
		while (node->key < key) {
			before = node;
			node = atomic_load(&node->next);
			LIST_COUNT(pool, LIST_PASSED, 1);
		}
		spin_lock(&before->lock, pool);
		spin_lock(&node->lock, pool);
		if (!atomic_load(&before->removed) && !atomic_load(&node->removed) && atomic_load(&before->next) == node)
			return before;
		unlock(before, node);
		LIST_COUNT(pool, LIST_RESTARTED, 1);
	}
}

static bool lazy_contains(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *node = atomic_load(&list->head.next);
	while (node->key < key) {
		node = atomic_load(&node->next);
		LIST_COUNT(pool, LIST_PASSED, 1);
	}
	bool removed = atomic_load(&node->removed);
	return (node->key == key) & !removed; /* avoids a branch that cannot be predicted */
}

static bool lazy_remove(struct list *list, struct list_pool *pool, int32_t key) {
	return pair_remove(list, pool, key, true);
}

const struct list_kind KERNEL_COUNTED(list_lazy) = {
	.name = "lazy", .flags = LIST_WALKED, .contains = lazy_contains, .add = pair_add, .remove = lazy_remove};
