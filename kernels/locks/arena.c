/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/locks/locks.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/locks/wait.h"

static size_t round_up(size_t size, size_t unit) {
	return (size + unit - 1) / unit * unit;
}

enum ss_status locks_arena_new(struct locks_arena *arena, const struct lock_kind *kind,
                               const struct lock_shape *shape) {
	size_t unit = shape->pad ? shape->pad : _Alignof(struct lock_prize), threads = (size_t)shape->threads;
	size_t prize = round_up(kind->size(shape), unit), tallies = prize + round_up(sizeof(struct lock_prize), unit);
	size_t stride = round_up(sizeof(struct lock_tally), unit);
	size_t size = round_up(tallies + threads * stride, LOCK_LINE);
	char *memory = aligned_alloc(LOCK_LINE, size);
	if (!memory)
		return SS_NOMEM;
	memset(memory, 0, size);
	if (kind->init(memory, shape) != 0) {
		free(memory);
		return SS_NOMEM;
	}
	*arena = (struct locks_arena){kind, memory, (void *)(memory + prize), (void *)(memory + tallies), stride};
	return SS_OK;
}

void locks_arena_free(struct locks_arena *arena) {
	if (arena->kind)
		arena->kind->destroy(arena->lock);
	free(arena->lock);
}

struct lock_contest locks_arena_contest(const struct locks_arena *arena, const struct locks_input *input) {
	return (struct lock_contest){.n = input->n,
	                             .critical = input->critical,
	                             .noncritical = input->noncritical,
	                             .prize = arena->prize,
	                             .tallies = arena->tallies,
	                             .tally_stride = arena->tally_stride};
}

void locks_arena_clear(const struct locks_arena *arena, int threads) {
	*arena->prize = (struct lock_prize){.owner = -1};
	memset(arena->tallies, 0, (size_t)threads * arena->tally_stride);
}

/* Threads that come one by one would find the lock free, and a fast one be done before the next has come. The first has
 * the lock when all meet (awake, which a barrier of the runtime would not promise), and gives the others time to queue.
 */
static void start(const struct locks_arena *arena, int thread, int team, atomic_int *ready) {
	bool first = thread == 0 && team > 1 && arena->kind->acquire;
	unsigned turns = 0;
	if (first)
		arena->kind->acquire(arena->lock, thread);
	for (atomic_fetch_add(ready, 1); atomic_load(ready) < team;)
		lock_wait(&turns);
	for (int i = 0; first && i < team; i++)
		lock_yield();
	if (first)
		arena->kind->release(arena->lock, thread);
}

int locks_arena_run(const struct locks_arena *arena, const struct lock_contest *contest, int threads) {
	atomic_int ready = 0;
	int team = 1;
	if (threads == 1 && (arena->kind->flags & LOCK_UNSAFE)) { /* the serial code: neither a lock nor a region */
		arena->kind->contend(arena->lock, 0, contest);
		return team;
	}
#pragma omp parallel num_threads(threads)
	{
		int thread = omp_get_thread_num();
		if (thread == 0)
			team = omp_get_num_threads();
		start(arena, thread, omp_get_num_threads(), &ready);
		arena->kind->contend(arena->lock, thread, contest);
	}
	return team;
}
