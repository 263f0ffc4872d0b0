/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel `locks`: threads contend for one lock. Shared by its parts; nothing outside this folder and its test
 * includes it. */
#ifndef KERNELS_LOCKS_LOCKS_H
#define KERNELS_LOCKS_LOCKS_H
#include "kernels/locks/contest.h"

enum { LOCKS_N_MAX = 100000000, LOCKS_UNITS_MAX = 1000000 };
#define LOCKS_WORK_MAX 1e11 /* units of work in a run, about as many ns */

struct locks_input {
	int64_t n, critical, noncritical;
	uint64_t sum; /* the expected results of the critical sections, from the oracle */
};

/* A lock, its data and the threads' tallies in one allocation: packed, or each on lines of its own. */
struct locks_arena {
	const struct lock_kind *kind; /* NULL: without a lock */
	void *lock;                   /* also the allocation */
	struct lock_prize *prize;
	struct lock_tally *tallies;
	size_t tally_stride;
};

struct locks_state {
	const struct locks_input *input;
	struct lock_shape shape;
	struct locks_arena arena;
	int team; /* threads that took part in the last run */
};

/* arena.c */
enum ss_status locks_arena_new(struct locks_arena *arena, const struct lock_kind *kind, const struct lock_shape *shape);
void locks_arena_free(struct locks_arena *arena);
struct lock_contest locks_arena_contest(const struct locks_arena *arena, const struct locks_input *input);
void locks_arena_clear(const struct locks_arena *arena, int threads);
/* Returns the team's size. */
int locks_arena_run(const struct locks_arena *arena, const struct lock_contest *contest, int threads);

static inline struct lock_tally *locks_tally(const struct locks_state *state, int thread) {
	return (void *)((char *)state->arena.tallies + (size_t)thread * state->arena.tally_stride);
}

/* oracle.c: `units` steps of lock_work, by another method. */
uint64_t locks_oracle(uint64_t sum, uint64_t units);

#endif
