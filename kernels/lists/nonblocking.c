/* SPDX-License-Identifier: BSD-3-Clause */
/* No locks: a node is removed by a mark in its own link, which makes every later change of that link fail, and then
 * unlinked by any thread that passes (Harris, "A pragmatic implementation of non-blocking linked lists", 2001; one node
 * at a time, as in Michael, "High performance dynamic lock-free hash tables and list-based sets", 2002; contains as in
 * Herlihy and Shavit 2008, section 9.8).
 *
 * A link that is compared and swapped must not have changed and changed back meanwhile (the ABA problem). It can't: a
 * node is used again only after all operations that may have seen it (memory.c), or not at all. */
#include "kernels/lists/list_impl.h"

static bool is_marked(const struct list_node *link) {
	return (uintptr_t)link & 1;
}

static struct list_node *marked(struct list_node *link) {
	return (struct list_node *)((uintptr_t)link | 1);
}

static struct list_node *bare(struct list_node *link) {
	return (struct list_node *)((uintptr_t)link & ~(uintptr_t)1);
}

/* The place of a key, present or not: between two neighbours, neither marked when it was looked at. */
struct place {
	struct list_node *before, *node;
};

/* Unlinks the marked nodes on its way; false if somebody else was quicker. */
static bool place_try(struct list *list, struct list_pool *pool, int32_t key, struct place *place) {
	struct list_node *before = &list->head, *node = atomic_load(&before->next);
	for (;;) {
		struct list_node *next = atomic_load(&node->next);
		while (is_marked(next)) {
			struct list_node *expected = node;
			if (!atomic_compare_exchange_strong(&before->next, &expected, bare(next))) {
				LIST_COUNT(pool, LIST_CAS_FAILED, 1);
				return false;
			}
			LIST_COUNT(pool, LIST_PASSED, 1);
			node = bare(next);
			next = atomic_load(&node->next);
		}
		if (node->key >= key)
			break;
		LIST_COUNT(pool, LIST_PASSED, 1);
		before = node;
		node = next;
	}
	*place = (struct place){before, node};
	return true;
}

static struct place place_find(struct list *list, struct list_pool *pool, int32_t key) {
	struct place place;
	while (!place_try(list, pool, key, &place))
		LIST_COUNT(pool, LIST_RESTARTED, 1);
	return place;
}

/* The inner loop follows bare links only: to clear a bit on every link would cost a walk more than a branch does. */
static bool nonblocking_contains(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *node = atomic_load(&list->head.next), *next = atomic_load(&node->next);
	for (;;) {
		for (; !is_marked(next); next = atomic_load(&node->next)) {
			if (node->key >= key)
				return node->key == key;
			LIST_COUNT(pool, LIST_PASSED, 1);
			node = next;
		}
		if (node->key >= key)
			return false;
		LIST_COUNT(pool, LIST_PASSED, 1);
		node = bare(next);
		next = atomic_load(&node->next);
	}
}

static bool nonblocking_add(struct list *list, struct list_pool *pool, int32_t key) {
	struct list_node *node = NULL;
	for (;;) {
		struct place place = place_find(list, pool, key);
		if (place.node->key == key) {
			if (node)
				list_node_give(pool, node);
			return false;
		}
		if (!node)
			node = list_node_new(pool, key);
		list_next_set(node, place.node);
		if (atomic_compare_exchange_strong(&place.before->next, &place.node, node))
			return true;
		LIST_COUNT(pool, LIST_CAS_FAILED, 1);
		LIST_COUNT(pool, LIST_RESTARTED, 1);
	}
}

/* The thread that marked a node retires it, and only after it was surely unlinked: the second search passes its key. */
static bool nonblocking_remove(struct list *list, struct list_pool *pool, int32_t key) {
	for (;;) {
		struct place place = place_find(list, pool, key);
		struct list_node *node = place.node, *next = atomic_load(&node->next);
		if (node->key != key)
			return false;
		bool gone = is_marked(next);
		if (gone || !atomic_compare_exchange_strong(&node->next, &next, marked(next))) {
			LIST_COUNT(pool, LIST_CAS_FAILED, !gone);
			LIST_COUNT(pool, LIST_RESTARTED, 1);
			continue;
		}
		if (!atomic_compare_exchange_strong(&place.before->next, &place.node, next)) {
			LIST_COUNT(pool, LIST_CAS_FAILED, 1);
			place_find(list, pool, key);
		}
		list_node_retire(list, pool, node);
		return true;
	}
}

const struct list_kind KERNEL_COUNTED(list_nonblocking) = {.name = "nonblocking",
                                                           .flags = LIST_WALKED,
                                                           .contains = nonblocking_contains,
                                                           .add = nonblocking_add,
                                                           .remove = nonblocking_remove};
