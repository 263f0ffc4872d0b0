/* SPDX-License-Identifier: BSD-3-Clause */
/* The set of one thread, or of the holder of the one lock. */
#ifndef KERNELS_LISTS_PLAIN_IMPL_H
#define KERNELS_LISTS_PLAIN_IMPL_H
#include "kernels/lists/list_impl.h"

/* The last node below the key. */
static inline struct list_node *plain_before(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = &list->head, *node = list_next(before);
	while (node->key < key) {
		before = node;
		node = list_next(node);
		LIST_COUNT(pool, LIST_PASSED, 1);
	}
	return before;
}

static inline bool plain_contains(struct list *list, struct list_pool *pool, int32_t key) {
	return list_next(plain_before(list, pool, key))->key == key;
}

static inline bool plain_add(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = plain_before(list, pool, key), *after = list_next(before);
	if (after->key == key)
		return false;
	struct list_node *node = list_node_new(pool, key);
	list_next_set(node, after);
	list_next_set(before, node);
	return true;
}

static inline bool plain_remove(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = plain_before(list, pool, key), *node = list_next(before);
	if (node->key != key)
		return false;
	list_next_set(before, list_next(node));
	list_node_retire(list, pool, node);
	return true;
}
#endif
