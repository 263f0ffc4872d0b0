/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tests/gpu/emulator/abi.h"
#include "tests/gpu/emulator/block.h"
#include "tests/gpu/emulator/warp.h"

/* The thread that runs, and where it came from. */
static struct block *block_now;
static struct thread *thread_now;
static struct fiber scheduler;

static void thread_main(void);

unsigned grid_random(struct grid *grid, unsigned below) {
	grid->random ^= grid->random << 13; /* Marsaglia, "Xorshift RNGs", 2003 */
	grid->random ^= grid->random >> 7;
	grid->random ^= grid->random << 17;
	return (unsigned)((grid->random >> 32) % below);
}

/* One pass over a warp: each lane that is ready, once, in the given order; lanes may become ready meanwhile. */
static struct {
	struct warp *warp;
	struct thread *threads;     /* its lanes */
	struct emulated_xyz *index; /* of the thread that runs, for its code */
	unsigned from, to_come;     /* the lane that is first; the lanes that have not had their turn, turned */
	bool down;
} pass;

/* The bits of lanes with the lane `from` first: lowest upwards, or highest downwards. */
static unsigned lanes_turned(unsigned lanes) {
	unsigned by = (pass.down ? WARP - 1 - pass.from : WARP - pass.from) % WARP;
	return lanes << by | lanes >> ((WARP - by) % WARP);
}

static struct thread *lane_first(unsigned turned) {
	unsigned by = (unsigned)(pass.down ? __builtin_clz(turned) : __builtin_ctz(turned));
	return &pass.threads[(pass.down ? pass.from - by : pass.from + by) % WARP];
}

/* The thread whose turn it is, or NULL at the end of the pass. */
static struct thread *pass_next(void) {
	unsigned turned = lanes_turned(pass.warp->ready) & pass.to_come;
	if (!turned || block_now->grid->failure)
		return NULL;
	struct thread *next = lane_first(turned);
	unsigned after = pass.down ? 0x7fffffffu >> __builtin_clz(turned) : ~(turned ^ (turned - 1));
	pass.to_come &= after;
	if (turned & after)
		fiber_prefetch(&lane_first(turned & after)->fiber);
	return next;
}

static unsigned lane_now(void) {
	return (unsigned)(thread_now - pass.threads);
}

static void thread_enter(struct thread *thread) {
	*pass.index = thread->index;
	thread_now = thread;
}

/* The thread has a stack, or gets one. */
static bool thread_begin(struct thread *thread) {
	if (thread->stack)
		return true;
	thread->stack = stack_take();
	if (thread->stack)
		fiber_start(&thread->fiber, thread->stack, thread_main);
	else
		block_now->grid->failure = CUDA_ERROR_OUT_OF_MEMORY;
	return thread->stack;
}

/* Goes on with the next thread of the pass, or with the scheduler. The masks say already when this one may go on. */
static void leave(void) {
	struct thread *thread = thread_now, *next = pass_next();
	if (next && thread_begin(next)) {
		thread_enter(next);
		fiber_switch(&thread->fiber, &next->fiber);
	} else {
		fiber_switch(&thread->fiber, &scheduler);
	}
}

static void wait_in(unsigned *lanes) {
	unsigned lane = 1u << lane_now();
	pass.warp->ready &= ~lane;
	*lanes |= lane;
}

static void thread_ended(void) {
	unsigned lane = 1u << lane_now();
	pass.warp->alive &= ~lane;
	pass.warp->ready &= ~lane;
	block_now->alive--;
	block_now->grid->progress += 1 + warp_left(pass.warp);
}

void block_fault(int failure, const char *why, const void *address) {
	if (!thread_now)
		return;
	const struct emulated_xyz *b = &block_now->index, *t = &thread_now->index;
	struct grid *grid = block_now->grid;
	bool overflow = stack_guards(thread_now->stack, address);
	grid->failure = failure;
	fprintf(stderr, "emulator: %s: block (%u,%u,%u) thread (%u,%u,%u): %s", grid->name, b->x, b->y, b->z, t->x, t->y,
	        t->z, overflow ? "the stack is full" : why);
	if (address && !overflow)
		fprintf(stderr, " at %p", address);
	fprintf(stderr, "\n");
	thread_ended();
	fiber_switch(&thread_now->fiber, &scheduler);
}

/* Threads that have not begun are called on this stack, one after the other, which needs no switch. */
static void thread_main(void) {
	struct thread *thread, *next;
	do {
		const struct grid *grid = block_now->grid;
		grid->kernel->call(grid->arguments);
		thread = thread_now;
		thread_ended();
		next = pass_next();
		if (next && !next->stack) {
			next->stack = thread->stack;
			thread->stack = NULL;
			thread_enter(next);
		}
	} while (next && !thread->stack);
	stack_give(thread->stack); /* nobody takes it before the switch */
	thread->stack = NULL;
	if (next)
		thread_enter(next);
	fiber_switch(&thread->fiber, next ? &next->fiber : &scheduler);
}

static unsigned warps_of(const struct grid *grid) {
	return (grid->threads + WARP - 1) / WARP;
}

static void open_barrier(struct block *block) {
	block->last_votes = block->votes;
	block->votes = 0;
	block->waiting = 0;
	block->grid->progress++;
	for (struct warp *warp = block->warps; warp < block->warps + warps_of(block->grid); warp++) {
		warp->ready |= warp->at_barrier;
		warp->at_barrier = 0;
	}
}

/* Threads that have ended are not waited for (PTX ISA 9.7.13.1, bar.sync), but all wait at the same barrier. */
static void try_barrier(struct block *block) {
	if (block->waiting == 0 || block->waiting < block->alive)
		return;
	if (block->divergent) {
		block_describe(block, "a divergent __syncthreads");
		block->grid->failure = CUDA_ERROR_LAUNCH_FAILED;
		return;
	}
	open_barrier(block);
}

static int serve_barrier(int line, int value) {
	struct block *block = block_now;
	thread_now->line = line;
	block->divergent = block->waiting > 0 && (block->divergent || line != block->line);
	block->line = line;
	block->votes += value != 0;
	block->waiting++;
	wait_in(&pass.warp->at_barrier);
	leave();
	return block->last_votes;
}

static unsigned long long serve_together(enum emulated_op op, unsigned mask, unsigned long long value, int argument) {
	struct warp *warp = pass.warp;
	unsigned lane = lane_now();
	if (!(mask >> lane & 1))
		block_fault(CUDA_ERROR_LAUNCH_FAILED, "a *_sync whose mask does not hold the calling lane", NULL);
	wait_in(&warp->together);
	block_now->grid->progress += warp_enter(warp, lane, op, mask, value, argument);
	leave();
	return warp->value[lane];
}

static unsigned serve_active(void) {
	return pass.warp->alive;
}

static void *serve_dynamic(void) {
	return block_now->dynamic;
}

static void *serve_peer(void *at, unsigned rank) {
	ptrdiff_t distance = ((ptrdiff_t)rank - block_now->rank) * (ptrdiff_t)block_now->stride;
	const struct block *peer = (const struct block *)((const char *)block_now + distance);
	return (char *)peer->dynamic + ((char *)at - (char *)block_now->dynamic);
}

static unsigned *serve_cluster(void) {
	return block_now->cluster;
}

static void serve_yield(void) {
	wait_in(&pass.warp->yielded);
	leave();
}

static void serve_step(void) {
	if (block_now->grid->random && grid_random(block_now->grid, 8) == 0)
		serve_yield();
}

static void serve_trap(const char *why) {
	block_fault(CUDA_ERROR_LAUNCH_FAILED, why, NULL);
}

const struct emulated_services block_services = {serve_barrier, serve_together, serve_active,
                                                 serve_dynamic, serve_yield,    serve_step,
                                                 serve_trap,    serve_peer,     serve_cluster};

static unsigned lane_count(const struct grid *grid, unsigned warp) {
	unsigned left = grid->threads - warp * WARP;
	return left < WARP ? left : WARP;
}

void block_restart(struct block *block) {
	block->alive = block->grid->threads;
	block->waiting = 0;
	block->votes = 0;
	block->divergent = false;
	for (unsigned w = 0; w < warps_of(block->grid); w++) {
		struct warp *warp = &block->warps[w];
		warp->alive = warp->ready = ~0u >> (WARP - lane_count(block->grid, w));
		warp->yielded = warp->at_barrier = warp->together = 0;
	}
}

void block_init(struct block *block, struct grid *grid, struct thread *threads) {
	const struct emulated_xyz *size = &grid->block_size;
	struct emulated_xyz index = {0, 0, 0};
	block->grid = grid;
	block->threads = threads;
	for (unsigned i = 0; i < grid->threads; i++) {
		threads[i].index = index;
		if (++index.x == size->x && ++index.y == size->y) {
			index.y = 0;
			index.z++;
		}
		index.x %= size->x;
	}
	block_restart(block);
}

/* Passes over a warp until none of its lanes is ready, each from a random lane on, in a random direction. */
static bool warp_turn(struct block *block, unsigned w) {
	struct grid *grid = block->grid;
	unsigned count = lane_count(grid, w);
	bool moved = false;
	pass.warp = &block->warps[w];
	pass.threads = block->threads + w * WARP;
	pass.index = grid->module->thread;
	while (pass.warp->ready && !grid->failure) {
		pass.from = grid->random ? grid_random(grid, count) : 0;
		pass.down = grid->random && grid_random(grid, 2);
		pass.to_come = ~0u;
		for (struct thread *next; (next = pass_next()) && thread_begin(next); moved = true) {
			thread_enter(next);
			fiber_switch(&scheduler, &next->fiber);
			thread_now = NULL;
		}
	}
	return moved;
}

static unsigned lanes_yielded(const struct block *block) {
	unsigned yielded = 0;
	for (unsigned w = 0; w < warps_of(block->grid); w++)
		yielded |= block->warps[w].yielded;
	return yielded;
}

bool block_turn(struct block *block) {
	struct grid *grid = block->grid;
	unsigned warps = warps_of(grid);
	bool moved = true;
	block_now = block;
	*grid->module->block = block->index;
	for (unsigned w = 0; w < warps; w++) {
		block->warps[w].ready |= block->warps[w].yielded;
		block->warps[w].yielded = 0;
	}
	while (moved && !grid->failure) {
		unsigned w = grid->random ? grid_random(grid, warps) : 0;
		bool down = grid->random && grid_random(grid, 2);
		moved = false;
		for (unsigned i = 0; i < warps && !grid->failure; i++) {
			moved |= warp_turn(block, w);
			w = down ? (w ? w : warps) - 1 : w + 1 < warps ? w + 1 : 0;
		}
		if (!grid->failure)
			try_barrier(block);
	}
	return block->alive > 0;
}

bool block_waits_in_loop(const struct block *block) {
	return lanes_yielded(block) != 0;
}

void block_drop(struct block *block) {
	for (unsigned i = 0; i < block->grid->threads; i++) {
		if (block->threads[i].stack)
			stack_give(block->threads[i].stack);
		block->threads[i].stack = NULL;
	}
}

/* Says what the thread waits for; NULL if it can go on. */
static const char *waits_in(const struct block *block, unsigned thread) {
	const struct warp *warp = &block->warps[thread / WARP];
	unsigned lane = 1u << thread % WARP;
	return !(warp->alive & lane)     ? "has ended"
	       : warp->at_barrier & lane ? "waits in __syncthreads"
	       : warp->together & lane   ? "waits in a *_sync"
	       : warp->yielded & lane    ? "waits in a loop"
	                                 : NULL;
}

void block_describe(const struct block *block, const char *what) {
	const char *last = NULL;
	int line = 0;
	fprintf(stderr, "emulator: %s: block (%u,%u,%u): %s:", block->grid->name, block->index.x, block->index.y,
	        block->index.z, what);
	for (unsigned i = 0; i < block->grid->threads; i++) {
		const struct thread *thread = &block->threads[i];
		const char *word = waits_in(block, i);
		bool same = word == last && thread->line == line;
		last = word;
		line = thread->line;
		if (same || !word)
			continue;
		fprintf(stderr, " thread (%u,%u,%u) %s", thread->index.x, thread->index.y, thread->index.z, word);
		if (block->warps[i / WARP].at_barrier >> i % WARP & 1)
			fprintf(stderr, " (line %d)", thread->line);
		fprintf(stderr, ";");
	}
	fprintf(stderr, "\n");
}
