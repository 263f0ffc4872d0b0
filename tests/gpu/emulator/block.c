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

unsigned grid_random(struct grid *grid, unsigned below) {
	grid->random ^= grid->random << 13; /* Marsaglia, "Xorshift RNGs", 2003 */
	grid->random ^= grid->random >> 7;
	grid->random ^= grid->random << 17;
	return (unsigned)((grid->random >> 32) % below);
}

static void leave(enum thread_state state) {
	struct thread *thread = thread_now;
	thread_set(block_now, thread, state);
	fiber_switch(&thread->fiber, &scheduler);
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
	leave(THREAD_DONE);
}

static void thread_main(void) {
	const struct grid *grid = block_now->grid;
	grid->kernel->call(grid->arguments);
	leave(THREAD_DONE);
}

static void open_barrier(struct block *block) {
	block->last_votes = block->votes;
	block->votes = 0;
	block->waiting = 0;
	block->grid->progress++;
	for (unsigned i = 0; i < block->grid->threads; i++)
		if (block->threads[i].state == THREAD_AT_BARRIER)
			thread_set(block, &block->threads[i], THREAD_READY);
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
	leave(THREAD_AT_BARRIER);
	return block->last_votes;
}

static unsigned long long serve_together(enum emulated_op op, unsigned mask, unsigned long long value, int argument) {
	struct thread *thread = thread_now;
	if (!warp_enter(thread, op, mask, value, argument))
		block_fault(CUDA_ERROR_LAUNCH_FAILED, "a *_sync whose mask does not hold the calling lane", NULL);
	leave(THREAD_IN_WARP);
	return thread->result;
}

static unsigned serve_active(void) {
	return warp_alive(block_now, thread_now);
}

static unsigned serve_lane(void) {
	return thread_now->number % WARP;
}

static void *serve_dynamic(void) {
	return block_now->dynamic;
}

static void serve_yield(void) {
	leave(THREAD_YIELDED);
}

static void serve_step(void) {
	if (block_now->grid->random && grid_random(block_now->grid, 8) == 0)
		leave(THREAD_YIELDED);
}

static void serve_trap(const char *why) {
	block_fault(CUDA_ERROR_LAUNCH_FAILED, why, NULL);
}

const struct emulated_services block_services = {serve_barrier, serve_together, serve_active, serve_lane,
                                                 serve_dynamic, serve_yield,    serve_step,   serve_trap};

void block_init(struct block *block, struct grid *grid, struct thread *threads) {
	const struct emulated_xyz *size = &grid->block_size;
	struct emulated_xyz index = {0, 0, 0};
	block->grid = grid;
	block->threads = threads;
	block->alive = grid->threads;
	block->waiting = 0;
	block->votes = 0;
	block->divergent = false;
	block->yielded = 0;
	memset(block->lanes_alive, 0, sizeof block->lanes_alive);
	memset(block->lanes_together, 0, sizeof block->lanes_together);
	memset(block->lanes_ready, 0, sizeof block->lanes_ready);
	for (unsigned i = 0; i < grid->threads; i++) {
		threads[i].number = i;
		threads[i].state = THREAD_DONE;
		thread_set(block, &threads[i], THREAD_NEW);
		threads[i].stack = NULL;
		threads[i].index = index;
		if (++index.x == size->x && ++index.y == size->y) {
			index.y = 0;
			index.z++;
		}
		index.x %= size->x;
	}
}

static bool start(struct thread *thread) {
	if (thread->state == THREAD_NEW) {
		thread->stack = stack_take();
		if (!thread->stack)
			return false;
		fiber_start(&thread->fiber, thread->stack, thread_main);
	}
	return true;
}

/* It is new or ready, and stays so until it says otherwise. */
static void resume(struct block *block, struct thread *thread) {
	if (!start(thread)) {
		block->grid->failure = CUDA_ERROR_OUT_OF_MEMORY;
		return;
	}
	*block->grid->module->thread = thread->index;
	thread_now = thread;
	thread->state = THREAD_READY;
	fiber_switch(&scheduler, &thread->fiber);
	thread_now = NULL;
	if (thread->state == THREAD_IN_WARP)
		block->grid->progress += warp_try(block, thread);
	if (thread->state != THREAD_DONE)
		return;
	stack_give(thread->stack);
	thread->stack = NULL;
	block->alive--;
	block->grid->progress++;
	warp_left(block, thread);
}

/* The bits of lanes with the lane `from` first: lowest upwards, or highest downwards. */
static unsigned lanes_from(unsigned lanes, unsigned from, bool down) {
	unsigned by = down ? (WARP - 1 - from) % WARP : (WARP - from) % WARP;
	return by ? lanes << by | lanes >> (WARP - by) : lanes;
}

static unsigned lane_first(unsigned turned, unsigned from, bool down) {
	unsigned by = (unsigned)(down ? __builtin_clz(turned) : __builtin_ctz(turned));
	return (down ? from + WARP - by : from + by) % WARP;
}

/* Each lane that is ready, once, in the given order; lanes may become ready meanwhile. */
static bool lanes_run(struct block *block, unsigned first, unsigned from, bool down) {
	const unsigned *ready = &block->lanes_ready[first / WARP];
	unsigned to_come = ~0u, turned;
	bool moved = false;
	while ((turned = lanes_from(*ready, from, down) & to_come) && !block->grid->failure) {
		unsigned lane = lane_first(turned, from, down), bit = lanes_from(1u << lane, from, down);
		to_come &= down ? bit - 1 : ~(bit | (bit - 1));
		if (turned & to_come)
			fiber_prefetch(&block->threads[first + lane_first(turned & to_come, from, down)].fiber);
		resume(block, &block->threads[first + lane]);
		moved = true;
	}
	return moved;
}

/* Lanes from a random one on, in a random direction. */
static bool warp_turn(struct block *block, unsigned first) {
	struct grid *grid = block->grid;
	unsigned count = grid->threads - first < WARP ? grid->threads - first : WARP;
	bool moved = false;
	while (block->lanes_ready[first / WARP] && !grid->failure) {
		unsigned from = grid->random ? grid_random(grid, count) : 0;
		bool down = grid->random && grid_random(grid, 2);
		moved |= lanes_run(block, first, from, down);
	}
	return moved;
}

bool block_turn(struct block *block) {
	struct grid *grid = block->grid;
	unsigned warps = (grid->threads + WARP - 1) / WARP;
	bool moved = true;
	block_now = block;
	*grid->module->block = block->index;
	for (unsigned i = 0; i < grid->threads && block->yielded; i++)
		if (block->threads[i].state == THREAD_YIELDED)
			thread_set(block, &block->threads[i], THREAD_READY);
	while (moved && !grid->failure) {
		unsigned w = grid->random ? grid_random(grid, warps) : 0;
		bool down = grid->random && grid_random(grid, 2);
		moved = false;
		for (unsigned i = 0; i < warps && !grid->failure; i++) {
			moved |= warp_turn(block, w * WARP);
			w = down ? (w ? w : warps) - 1 : w + 1 < warps ? w + 1 : 0;
		}
		if (!grid->failure)
			try_barrier(block);
	}
	return block->alive > 0;
}

bool block_waits_in_loop(const struct block *block) {
	for (unsigned i = 0; i < block->grid->threads; i++)
		if (block->threads[i].state == THREAD_YIELDED || block->threads[i].state == THREAD_READY)
			return true;
	return false;
}

void block_drop(struct block *block) {
	for (unsigned i = 0; i < block->grid->threads; i++) {
		if (block->threads[i].stack)
			stack_give(block->threads[i].stack);
		block->threads[i].stack = NULL;
		thread_set(block, &block->threads[i], THREAD_DONE);
	}
}

void block_describe(const struct block *block, const char *what) {
	static const char *const words[] = {[THREAD_YIELDED] = "waits in a loop",
	                                    [THREAD_AT_BARRIER] = "waits in __syncthreads",
	                                    [THREAD_IN_WARP] = "waits in a *_sync",
	                                    [THREAD_DONE] = "has ended"};
	const struct thread *last = NULL;
	fprintf(stderr, "emulator: %s: block (%u,%u,%u): %s:", block->grid->name, block->index.x, block->index.y,
	        block->index.z, what);
	for (unsigned i = 0; i < block->grid->threads; i++) {
		const struct thread *thread = &block->threads[i];
		bool same = last && thread->state == last->state && thread->line == last->line;
		last = thread;
		if (same || !words[thread->state])
			continue;
		fprintf(stderr, " thread (%u,%u,%u) %s", thread->index.x, thread->index.y, thread->index.z,
		        words[thread->state]);
		if (thread->state == THREAD_AT_BARRIER)
			fprintf(stderr, " (line %d)", thread->line);
		fprintf(stderr, ";");
	}
	fprintf(stderr, "\n");
}
