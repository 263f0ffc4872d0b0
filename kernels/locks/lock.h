/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock of the suite: one file, the verbs that contest.h lists, and one line in LOCKS of this folder's local.mk.
 * Kernels that need a lock of the user's choice (locks, kmeans) take it from here. */
#ifndef KERNELS_LOCKS_LOCK_H
#define KERNELS_LOCKS_LOCK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCK_LINE = 64 /* bytes that travel together between cores */, LOCK_WIDE = 1024 };

enum lock_flags {
	LOCK_FIFO = 1,   /* threads enter in the order in which they asked */
	LOCK_UNSAFE = 2, /* does not exclude: only a lower bound of the time */
	/* Events that cannot be counted from outside: whether a thread had to wait, and how often it tried again. */
	LOCK_WAITS_HIDDEN = 4,
	LOCK_RETRIES_HIDDEN = 8
};

struct lock_shape {
	int threads; /* 1 or more; a thread is known by its number, 0 .. threads - 1 */
	size_t pad;  /* data of different threads does not share a unit of this many bytes; 0: they are side by side */
};

struct lock_contest; /* contest.h: the loop that the kernel `locks` times */

/* The memory of a lock is the caller's: size() bytes, zeroed, aligned to LOCK_LINE. */
struct lock_kind {
	const char *name, *summary;
	unsigned flags;
	size_t (*size)(const struct lock_shape *shape);
	int (*init)(void *lock, const struct lock_shape *shape); /* 0, or -1 if the system has none left */
	/* NULL for a lock that is not an object (omp critical), which only contend implements. */
	void (*acquire)(void *lock, int thread);
	void (*release)(void *lock, int thread);
	/* The loop that `locks` times, with acquire and release inlined; called by every thread of the team. */
	void (*contend)(void *lock, int thread, const struct lock_contest *contest);
	void (*destroy)(void *lock);
};

/* Ends with NULL. LOCK_WORDS in registry.h is the list of their names, for a parameter's values. */
extern const struct lock_kind *const lock_registry[];
const struct lock_kind *lock_find(const char *name);
#endif
