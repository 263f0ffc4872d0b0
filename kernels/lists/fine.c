/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock for each node, taken hand over hand: a node is locked before its predecessor is released (Herlihy and
 * Shavit 2008, section 9.5). A thread that waits for a node holds its predecessor, and so does the thread that
 * removes it, so a removed node never has waiters and may be reused at once. */
#include "kernels/lists/list_impl.h"

/* Locked: the last node below the key, which is returned, and the one behind it. */
static struct list_node *lock_before(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = &list->head;
	spin_lock(&before->lock, pool);
	struct list_node *node = list_next(before);
	spin_lock(&node->lock, pool);
	while (node->key < key) {
		spin_unlock(&before->lock);
		before = node;
		node = list_next(node);
		LIST_COUNT(pool, LIST_PASSED, 1);
		spin_lock(&node->lock, pool);
	}
	return before;
}

static void unlock(struct list_node *before, struct list_node *node) {
	spin_unlock(&node->lock);
	spin_unlock(&before->lock);
}

static bool fine_contains(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = lock_before(list, pool, key), *node = list_next(before);
	bool found = node->key == key;
	unlock(before, node);
	return found;
}

static bool fine_add(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = lock_before(list, pool, key), *after = list_next(before);
	bool absent = after->key != key;
	if (absent) {
		struct list_node *node = list_node_new(pool, key);
		list_next_set(node, after);
		list_next_set(before, node);
	}
	unlock(before, after);
	return absent;
}

static bool fine_remove(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = lock_before(list, pool, key), *node = list_next(before);
	bool present = node->key == key;
	if (present)
		list_next_set(before, list_next(node));
	unlock(before, node);
	if (present)
		list_node_retire(list, pool, node);
	return present;
}

const struct list_kind KERNEL_COUNTED(list_fine) = {
	.name = "fine", .contains = fine_contains, .add = fine_add, .remove = fine_remove};
