/* SPDX-License-Identifier: BSD-3-Clause */
/* A sorted list of integers as a set. Variants are one short file each, with the same verbs in the same order:
 * contains, add, remove (Herlihy and Shavit, "The Art of Multiprocessor Programming", 2008, chapter 9).
 *
 * A node is 16 bytes, four to a cache line, whatever the variant, because a search is one dependent load for each
 * node and the list should stay near. Nodes come from pools, one for each thread, so that threads do not wait for
 * malloc. */
#ifndef KERNELS_LISTS_LIST_IMPL_H
#define KERNELS_LISTS_LIST_IMPL_H
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/count.h"

/* The order is that of the kernel's events; the variants count all but the last two. */
enum list_event {
	LIST_PASSED,
	LIST_LOCKED,
	LIST_CONTENDED,
	LIST_RESTARTED,
	LIST_CAS_FAILED,
	LIST_OPERATIONS,
	LIST_RECLAIMED
};

enum { LIST_LINE = 64 /* bytes that travel together between cores */ };

struct list_node {
	int32_t key;
	atomic_uchar lock;                /* fine, optimistic, lazy */
	atomic_uchar removed;             /* lazy */
	_Atomic(struct list_node *) next; /* nonblocking: its bit 0 says that this node, not the next, is removed */
};

/* The fate of a node that was removed. With LIST_LEAK its memory is not used again before the next list_fill: that
 * is safe, too, because a pool has room for all additions of a run. */
enum list_reclaim { LIST_EPOCH, LIST_LEAK, LIST_AT_ONCE };

struct list_limbo {
	struct list_node *node;
	uint64_t epoch; /* of the thread that removed it */
};

/* State of one thread. */
struct list_pool {
	alignas(2 * LIST_LINE) _Atomic uint64_t epoch; /* LIST_OUTSIDE between operations */
	struct list_node *node;                        /* fresh ones, `room` of them */
	size_t room, used;
	struct list_node *given; /* chain of nodes to use again */
	size_t given_count;
	struct list_limbo *limbo; /* removed nodes, oldest first; those before `freed` have been given back */
	size_t limbo_room, retired, freed, due;
	int64_t *events; /* where its thread counts; see KERNEL_COUNT */
};

struct list {
	alignas(LIST_LINE) struct list_node head; /* below every key */
	alignas(LIST_LINE) struct list_node tail; /* above every key */
	alignas(LIST_LINE) atomic_uchar lock;     /* coarse */
	alignas(LIST_LINE) _Atomic uint64_t epoch;
	alignas(LIST_LINE) const struct list_kind *kind; /* from here on: only read by the operations */
	enum list_reclaim reclaim;
	int threads;
	size_t initial;
	struct list_node *first; /* the initial nodes, in one piece */
	size_t bytes;
	struct list_pool pool[];
};

enum list_flags {
	LIST_SERIAL = 1, /* for one thread only */
	LIST_WALKED = 2  /* walked without locks, so a removed node cannot be reused at once */
};

/* Keys are greater than INT32_MIN and less than INT32_MAX. add and remove return whether they changed the set. */
struct list_kind {
	const char *name;
	unsigned flags;
	bool (*contains)(struct list *list, struct list_pool *pool, int32_t key);
	bool (*add)(struct list *list, struct list_pool *pool, int32_t key);
	bool (*remove)(struct list *list, struct list_pool *pool, int32_t key);
};
extern const struct list_kind list_serial, list_coarse, list_fine, list_optimistic, list_lazy, list_nonblocking;
extern const struct list_kind list_serial_counted, list_coarse_counted, list_fine_counted, list_optimistic_counted,
	list_lazy_counted, list_nonblocking_counted;

struct list_shape {
	const struct list_kind *kind;
	enum list_reclaim reclaim; /* LIST_EPOCH or LIST_LEAK: how a kind with LIST_WALKED frees nodes */
	int threads;
	size_t initial;       /* nodes that list_fill needs, at most */
	size_t adds, removes; /* operations of one thread between two list_fill, at most */
};

/* memory.c. NULL without memory; the team touches its threads' parts first if it has the same size. */
struct list *list_new(const struct list_shape *shape);
void list_free(struct list *list); /* may be NULL */
/* The set becomes keys[0] < .. < keys[count - 1], with keys[i] in initial node slot[i]. No operation may be under way.
 */
void list_fill(struct list *list, const int32_t *keys, const uint32_t *slot, size_t count);
struct list_node *list_node_new(struct list_pool *pool, int32_t key);
/* A node that other threads cannot see yet. */
void list_node_give(struct list_pool *pool, struct list_node *node);
/* A node that was in the list. */
void list_node_retire(const struct list *list, struct list_pool *pool, struct list_node *node);

/* A thread that has retired this many nodes tries to advance the epoch, and frees the nodes that it can. */
#ifndef LIST_RETIRED_A_TRY
#define LIST_RETIRED_A_TRY 64
#endif
enum { LIST_OUTSIDE = 0, LIST_EPOCH_FIRST = 1 };
void list_enter(struct list *list, struct list_pool *pool);
void list_leave(struct list_pool *pool);

enum list_op { LIST_CONTAINS, LIST_ADD, LIST_REMOVE };

static inline bool list_apply(struct list *list, struct list_pool *pool, enum list_op op, int32_t key) {
	switch (op) {
	case LIST_ADD:
		return list->kind->add(list, pool, key);
	case LIST_REMOVE:
		return list->kind->remove(list, pool, key);
	default:
		return list->kind->contains(list, pool, key);
	}
}

/* An operation of one thread, 0 .. threads - 1. */
static inline bool list_do(struct list *list, int thread, enum list_op op, int32_t key) {
	struct list_pool *pool = &list->pool[thread];
	if (list->reclaim != LIST_EPOCH)
		return list_apply(list, pool, op, key);
	list_enter(list, pool);
	bool result = list_apply(list, pool, op, key);
	list_leave(pool);
	return result;
}

/* Only the pool's thread writes there. */
#ifdef KERNEL_COUNTING
#define LIST_COUNT(pool, event, n) ((pool)->events[event] += (int64_t)(n))
#else
#define LIST_COUNT(pool, event, n) ((void)(pool), (void)(n))
#endif

/* Only valid while the list does not change. */
static inline struct list_node *list_next(const struct list_node *node) {
	return atomic_load_explicit(&node->next, memory_order_relaxed);
}

static inline void list_next_set(struct list_node *node, struct list_node *next) {
	atomic_store_explicit(&node->next, next, memory_order_relaxed);
}
#endif
