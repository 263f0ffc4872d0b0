/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of one thread, without any synchronization; and of many, with a single lock for the whole list (Herlihy and
 * Shavit 2008, section 9.4). */
#include "kernels/lists/list_impl.h"

/* The last node below the key. */
static struct list_node *plain_before(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = &list->head, *node = list_next(before);
	while (node->key < key) {
		before = node;
		node = list_next(node);
		LIST_COUNT(pool, LIST_PASSED, 1);
	}
	return before;
}

static bool plain_contains(struct list *list, struct list_pool *pool, int32_t key) {
	return list_next(plain_before(list, pool, key))->key == key;
}

static bool plain_add(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = plain_before(list, pool, key), *after = list_next(before);
	if (after->key == key)
		return false;
	struct list_node *node = list_node_new(pool, key);
	list_next_set(node, after);
	list_next_set(before, node);
	return true;
}

static bool plain_remove(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = plain_before(list, pool, key), *node = list_next(before);
	if (node->key != key)
		return false;
	list_next_set(before, list_next(node));
	list_node_retire(list, pool, node);
	return true;
}

const struct list_kind KERNEL_COUNTED(list_serial) = {
	.name = "serial", .flags = LIST_SERIAL, .contains = plain_contains, .add = plain_add, .remove = plain_remove};

static bool coarse_contains(struct list *list, struct list_pool *pool, int32_t key) {
	spin_lock(&list->lock, pool);
	bool found = plain_contains(list, pool, key);
	spin_unlock(&list->lock);
	return found;
}

static bool coarse_add(struct list *list, struct list_pool *pool, int32_t key) {
	spin_lock(&list->lock, pool);
	bool added = plain_add(list, pool, key);
	spin_unlock(&list->lock);
	return added;
}

static bool coarse_remove(struct list *list, struct list_pool *pool, int32_t key) {
	spin_lock(&list->lock, pool);
	bool removed = plain_remove(list, pool, key);
	spin_unlock(&list->lock);
	return removed;
}

const struct list_kind KERNEL_COUNTED(list_coarse) = {
	.name = "coarse", .contains = coarse_contains, .add = coarse_add, .remove = coarse_remove};
