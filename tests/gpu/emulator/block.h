/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block of threads, each a fiber. One runs at a time, until it ends or waits. */
#ifndef TESTS_GPU_EMULATOR_BLOCK_H
#define TESTS_GPU_EMULATOR_BLOCK_H
#include <stdbool.h>
#include <stdint.h>

#include "tests/gpu/emulator/fiber.h"
#include "tests/gpu/emulator/link.h"

enum { WARP = 32, WARPS_MAX = 1024 / WARP };

struct thread {
	struct fiber fiber;
	struct stack *stack; /* NULL: it has not begun, or has ended */
	struct emulated_xyz index;
	int line; /* of the barrier it waits at */
};

/* Each lane is in one of the masks at most: it can go on, yielded, or waits at the block's barrier or in a *_sync. None
 * but an ended lane is in no mask while the scheduler looks. Each array has what the lanes gave to a *_sync, and
 * `value` their results afterwards; they are arrays because the last lane to arrive reads those of all lanes. */
struct warp {
	unsigned alive, ready, yielded, at_barrier, together;
	unsigned mask[WARP], op[WARP];
	int argument[WARP];
	unsigned long long value[WARP], gathered[WARP];
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
	unsigned *cluster; /* a word of those that run together */
	unsigned rank;     /* its place among them; they are an array */
	size_t stride;     /* bytes from one of them to the next */
	struct thread *threads;
	struct warp warps[WARPS_MAX];
};

void block_init(struct block *block, struct grid *grid, struct thread *threads); /* threads: zeroed */
void block_restart(struct block *block);                                         /* all of its threads have ended */
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
