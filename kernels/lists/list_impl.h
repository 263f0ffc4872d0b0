/* SPDX-License-Identifier: BSD-3-Clause */
/* A sorted list of integers as a set. Variants have the same verbs in the same order:
 * contains, add, remove (Herlihy and Shavit, "The Art of Multiprocessor Programming", 2008, chapter 9).
 *
 * A node is 16 bytes, four to a cache line, whatever the variant, because a search is one dependent load for each
 * node and the list should stay near. Nodes come from pools, one for each thread, so that threads do not wait for
 * malloc. */
#ifndef KERNELS_LISTS_LIST_IMPL_H
#define KERNELS_LISTS_LIST_IMPL_H
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/count.h"
#include "kernels/random.h"

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
	size_t retired, freed, due;
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
static inline void list_leave(struct list_pool *pool) {
	atomic_store_explicit(&pool->epoch, LIST_OUTSIDE, memory_order_release);
}

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

/* The kernel around the lists: its operations, and their expected results. */

enum { LISTS_N_MAX = 1 << 20, LISTS_RANGE_MAX = 1 << 24, LISTS_OPS_MAX = 10000000, LISTS_THREADS_MAX = 4096 };

/* The set at the start, and the operations. Operation i is the same whatever the team. */
struct lists_input {
	size_t n, ops;
	int32_t range;         /* keys are 0 .. range - 1 */
	int contains, changes; /* percent: contains; contains and add */
	uint64_t seed;
	int32_t *keys;  /* n, rising */
	uint32_t *slot; /* where in memory the node of each lies */
};

struct lists_state {
	const struct lists_input *input; /* not owned */
	struct list *list;
	unsigned char *result; /* for each operation: 1 if it returned true */
};

/* The operations of a thread are begin .. end - 1. */
struct lists_share {
	size_t begin, end;
};

static inline struct lists_share lists_share_of(const struct lists_input *input, int thread, int threads) {
	return (struct lists_share){input->ops * (size_t)thread / (size_t)threads,
	                            input->ops * (size_t)(thread + 1) / (size_t)threads};
}

struct lists_step {
	enum list_op op;
	int32_t key;
};

static inline struct lists_step lists_step_of(const struct lists_input *input, size_t i) {
	uint64_t hash = kernel_random_at(input->seed, i);
	int percent = (int)((hash >> 32) * 100 >> 32);
	int32_t key = (int32_t)((hash & UINT32_MAX) * (uint64_t)input->range >> 32);
	enum list_op op = percent < input->contains ? LIST_CONTAINS : percent < input->changes ? LIST_ADD : LIST_REMOVE;
	return (struct lists_step){op, key};
}

/* A lock of one byte: test and test-and-set (Rudolph and Segall, "Dynamic decentralized cache schemes", 1984), which
 * leaves the processor to others after a while, because its holder may be waiting for it. */

enum { SPIN_TURNS = 128 /* some microseconds */ };

static inline void spin_pause(void) {
#if defined __x86_64__ || defined __i386__
	__builtin_ia32_pause();
#endif
}

static inline void spin_wait(const atomic_uchar *lock) {
	for (int turn = 0; atomic_load_explicit(lock, memory_order_relaxed); turn++)
		if (turn < SPIN_TURNS)
			spin_pause();
		else
			sched_yield();
}

static inline void spin_lock(atomic_uchar *lock, struct list_pool *pool) {
	bool held = false;
	for (; atomic_exchange_explicit(lock, 1, memory_order_acquire); held = true)
		spin_wait(lock);
	LIST_COUNT(pool, LIST_LOCKED, 1);
	LIST_COUNT(pool, LIST_CONTENDED, held);
}

static inline void spin_unlock(atomic_uchar *lock) {
	atomic_store_explicit(lock, 0, memory_order_release);
}
#endif
