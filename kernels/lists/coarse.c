/* SPDX-License-Identifier: BSD-3-Clause */
/* A single lock for the whole list (Herlihy and Shavit 2008, section 9.4). */
#include "kernels/lists/plain_impl.h"
#include "kernels/lists/spin_impl.h"

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
