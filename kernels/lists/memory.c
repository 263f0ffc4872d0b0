/* SPDX-License-Identifier: BSD-3-Clause */
/* A list, its initial nodes and its pools: one piece of memory, never asked for more in a run. */
#include <string.h>

#include "kernels/lists/list_impl.h"
#include "kernels/pages.h"

/* Makes AddressSanitizer report accesses to free nodes; does nothing without it. */
#if defined __SANITIZE_ADDRESS__
#define POISON_NODES 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define POISON_NODES 1
#endif
#endif

#ifdef POISON_NODES
#include <sanitizer/asan_interface.h>
#define poison(memory, size)   ASAN_POISON_MEMORY_REGION(memory, size)
#define unpoison(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#else
#define poison(memory, size)   ((void)(memory), (void)(size))
#define unpoison(memory, size) ((void)(memory), (void)(size))
#endif

_Static_assert(sizeof(struct list_node) <= 16, "four nodes fit on a line");

enum { PAGE = 4096 };

static size_t whole(size_t size, size_t unit) {
	return (size + unit - 1) / unit * unit;
}

/* Offsets of all parts, in bytes; the parts of one thread are on pages of their own. */
struct plan {
	size_t first, pools; /* the initial nodes; the parts of the threads */
	size_t limbo, pool;  /* in a thread's part: the start of its limbo, and the size of all */
	size_t bytes;
};

static struct plan plan_of(const struct list_shape *shape) {
	size_t threads = (size_t)shape->threads;
	bool limbo = shape->kind->flags & LIST_WALKED && shape->reclaim == LIST_EPOCH;
	struct plan plan = {.first = whole(sizeof(struct list) + threads * sizeof(struct list_pool), LIST_LINE)};
	plan.pools = whole(plan.first + shape->initial * sizeof(struct list_node), PAGE);
	plan.limbo = whole(shape->adds * sizeof(struct list_node), LIST_LINE);
	plan.pool = whole(plan.limbo + (limbo ? shape->removes * sizeof(struct list_limbo) : 0), PAGE);
	plan.bytes = plan.pools + threads * plan.pool;
	return plan;
}

static void pool_place(struct list_pool *pool, char *memory, const struct plan *plan, const struct list_shape *shape) {
	pool->node = (struct list_node *)(void *)memory;
	pool->room = shape->adds;
	pool->limbo = (struct list_limbo *)(void *)(memory + plan->limbo);
}

static void touch(struct list *list, char *pools, size_t size) {
#pragma omp parallel
	{
#pragma omp for schedule(static)
		for (size_t i = 0; i < list->initial; i++)
			list->first[i].key = 0;
		for (int t = omp_get_thread_num(); t < list->threads; t += omp_get_num_threads())
			memset(pools + (size_t)t * size, 0, size);
	}
}

struct list *list_new(const struct list_shape *shape) {
	struct plan plan = plan_of(shape);
	char *memory = kernel_pages_new(plan.bytes);
	if (!memory)
		return NULL;
	struct list *list = (struct list *)(void *)memory;
	list->kind = shape->kind;
	list->reclaim = shape->kind->flags & LIST_WALKED ? shape->reclaim : LIST_AT_ONCE;
	list->threads = shape->threads;
	list->initial = shape->initial;
	list->first = (struct list_node *)(void *)(memory + plan.first);
	list->bytes = plan.bytes;
	for (int t = 0; t < list->threads; t++)
		pool_place(&list->pool[t], memory + plan.pools + (size_t)t * plan.pool, &plan, shape);
	touch(list, memory + plan.pools, plan.pool);
	list_fill(list, NULL, NULL, 0);
	return list;
}

void list_free(struct list *list) {
	if (!list)
		return;
	unpoison(list, list->bytes);
	kernel_pages_free(list, list->bytes);
}

static void node_init(struct list_node *node, int32_t key) {
	node->key = key;
	atomic_store_explicit(&node->lock, 0, memory_order_relaxed);
	atomic_store_explicit(&node->removed, 0, memory_order_relaxed);
	list_next_set(node, NULL);
}

static void pool_empty(struct list_pool *pool) {
	atomic_store(&pool->epoch, LIST_OUTSIDE);
	pool->given = NULL;
	pool->used = pool->given_count = pool->retired = pool->freed = pool->due = 0;
	poison(pool->node, pool->room * sizeof *pool->node);
}

void list_fill(struct list *list, const int32_t *keys, const uint32_t *slot, size_t count) {
	struct list_node *last = &list->head;
	unpoison(list, list->bytes);
	node_init(&list->head, INT32_MIN);
	node_init(&list->tail, INT32_MAX);
	for (size_t i = 0; i < count; i++) {
		struct list_node *node = &list->first[slot[i]];
		node_init(node, keys[i]);
		list_next_set(last, node);
		last = node;
	}
	list_next_set(last, &list->tail);
	atomic_store(&list->lock, 0);
	atomic_store(&list->epoch, LIST_EPOCH_FIRST);
	for (int t = 0; t < list->threads; t++)
		pool_empty(&list->pool[t]);
}

struct list_node *list_node_new(struct list_pool *pool, int32_t key) {
	struct list_node *node = pool->given;
	if (!node)
		node = &pool->node[pool->used++];
	unpoison(node, sizeof *node);
	if (node == pool->given) {
		pool->given = list_next(node);
		pool->given_count--;
	}
	node_init(node, key);
	return node;
}

void list_node_give(struct list_pool *pool, struct list_node *node) {
	list_next_set(node, pool->given);
	pool->given = node;
	pool->given_count++;
	poison(node, sizeof *node);
}

void list_node_retire(const struct list *list, struct list_pool *pool, struct list_node *node) {
	uint64_t epoch = atomic_load_explicit(&pool->epoch, memory_order_relaxed);
	if (list->reclaim == LIST_EPOCH)
		pool->limbo[pool->retired] = (struct list_limbo){node, epoch};
	if (list->reclaim == LIST_AT_ONCE)
		list_node_give(pool, node);
	else
		pool->retired++;
}

/* Epoch-based reclamation (Fraser, "Practical lock-freedom", 2004, section 5.2.3).
 *
 * An operation announces the epoch that it found. The epoch only advances when all threads inside an operation have
 * found the present one, so it is at most one ahead of any of them. A thread removes a node in its epoch e, before
 * it leaves; the epoch is then at most e + 1. So a thread that may still see the node announced e + 1 or less, and
 * while it is inside the epoch is at most e + 2. At e + 3 the node is free. The announcement and all links are
 * sequentially consistent: a thread that was not seen inside sees the links as they were when it was looked for. */

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
