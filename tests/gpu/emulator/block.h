/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block of threads, each a fiber. One runs at a time, until it ends or waits. */
#ifndef TESTS_GPU_EMULATOR_BLOCK_H
#define TESTS_GPU_EMULATOR_BLOCK_H
#include <stdbool.h>
#include <stdint.h>

#include "tests/gpu/emulator/fiber.h"
#include "tests/gpu/emulator/link.h"

enum { WARP = 32, WARPS_MAX = 1024 / WARP };

enum thread_state { THREAD_NEW, THREAD_READY, THREAD_YIELDED, THREAD_AT_BARRIER, THREAD_IN_WARP, THREAD_DONE };

struct thread {
	struct fiber fiber;
	struct stack *stack;
	enum thread_state state; /* changed by thread_set only */
	unsigned number;         /* in its block */
	struct emulated_xyz index;
	int line; /* of the barrier it waits at */
	enum emulated_op op;
	unsigned mask;
	unsigned long long value, result;
	int argument;
};

/* Shared by all blocks of a launch. */
struct grid {
	const struct emulated_kernel *kernel;
	const struct emulated_module *module;
	const char *name;
	void **arguments;
	struct emulated_xyz size, block_size;
	unsigned threads;  /* of a block */
	uint64_t progress; /* how often a thread ended, or a barrier opened */
	uint64_t random;   /* the order of threads; 0: as they are numbered */
	int failure;       /* a CUresult */
};

struct block {
	struct grid *grid;
	struct emulated_xyz index;
	unsigned alive, waiting;
	int votes, last_votes; /* of the barrier */
	int line;              /* where the first thread waits at it */
	bool divergent;        /* another waits elsewhere */
	void *dynamic;
	struct thread *threads;
	/* What the states say, so that nobody has to look at all threads: the lanes of each warp that have not ended, that
	 * can go on, and that wait in a *_sync; how many threads yielded. */
	unsigned lanes_alive[WARPS_MAX], lanes_ready[WARPS_MAX], lanes_together[WARPS_MAX], yielded;
};

static inline void lane_mark(unsigned *lanes, unsigned lane, bool is) {
	*lanes = is ? *lanes | lane : *lanes & ~lane;
}

static inline void thread_set(struct block *block, struct thread *thread, enum thread_state state) {
	unsigned warp = thread->number / WARP, lane = 1u << thread->number % WARP;
	block->yielded += (unsigned)(state == THREAD_YIELDED) - (unsigned)(thread->state == THREAD_YIELDED);
	thread->state = state;
	lane_mark(&block->lanes_ready[warp], lane, state == THREAD_NEW || state == THREAD_READY);
	lane_mark(&block->lanes_together[warp], lane, state == THREAD_IN_WARP);
	lane_mark(&block->lanes_alive[warp], lane, state != THREAD_DONE);
}

void block_init(struct block *block, struct grid *grid, struct thread *threads);
/* Runs its threads until none can go on; true while some have not ended. */
bool block_turn(struct block *block);
bool block_waits_in_loop(const struct block *block);              /* a thread of it yielded */
void block_drop(struct block *block);                             /* after a failure */
void block_describe(const struct block *block, const char *what); /* to stderr: who waits where */
extern const struct emulated_services block_services;

/* For the handler of signals: the thread that runs ends with its launch. Returns only when none runs. */
void block_fault(int failure, const char *why, const void *address);

unsigned grid_random(struct grid *grid, unsigned below);

#endif
