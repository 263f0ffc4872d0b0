/* SPDX-License-Identifier: BSD-3-Clause */
/* A template for optimistic and lazy lists, which walk without locks and then lock the two nodes around the place. The
 * including file defines lock_before, which returns the first of them. */
#include "kernels/lists/list_impl.h"

static struct list_node *lock_before(struct list *list, struct list_pool *pool, int32_t key);

static void unlock(struct list_node *before, struct list_node *node) {
	spin_unlock(&node->lock);
	spin_unlock(&before->lock);
}

static bool pair_add(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *before = lock_before(list, pool, key), *after = atomic_load(&before->next);
	bool absent = after->key != key;
	if (absent) {
		struct list_node *node = list_node_new(pool, key);
		list_next_set(node, after);
		atomic_store(&before->next, node);
	}
	unlock(before, after);
	return absent;
}

/* marks: sets the mark before it unlinks. */
static inline bool pair_remove(struct list *list, struct list_pool *pool, int32_t key, bool marks) {
	struct list_node *before = lock_before(list, pool, key), *node = atomic_load(&before->next);
	bool present = node->key == key;
	if (present && marks)
		atomic_store(&node->removed, 1);
	if (present)
		atomic_store(&before->next, atomic_load(&node->next));
	unlock(before, node);
	if (present)
		list_node_retire(list, pool, node);
	return present;
}
