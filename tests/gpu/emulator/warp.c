/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

#include "tests/gpu/emulator/warp.h"

static struct thread *warp_of(const struct block *block, const struct thread *thread) {
	return block->threads + thread->number / WARP * WARP;
}

unsigned warp_alive(const struct block *block, const struct thread *thread) {
	return block->lanes_alive[thread->number / WARP];
}

bool warp_enter(struct thread *thread, enum emulated_op op, unsigned mask, unsigned long long value, int argument) {
	thread->op = op;
	thread->mask = mask;
	thread->value = value;
	thread->argument = argument;
	return mask >> thread->number % WARP & 1;
}

static unsigned long long fold(enum emulated_op op, unsigned long long a, unsigned long long b) {
	switch (op) {
	case EMULATED_ADD:
		return (unsigned)(a + b);
	case EMULATED_MIN:
		return (int)a < (int)b ? a : b;
	case EMULATED_MAX:
		return (int)a > (int)b ? a : b;
	case EMULATED_UMIN:
		return a < b ? a : b;
	case EMULATED_UMAX:
		return a > b ? a : b;
	case EMULATED_AND:
		return a & b;
	case EMULATED_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static unsigned long long fold_all(const struct thread *warp, enum emulated_op op, unsigned lanes) {
	unsigned long long all = 0;
	bool first = true;
	for (unsigned lane = 0; lane < WARP; lane++) {
		if (!(lanes >> lane & 1))
			continue;
		all = first ? warp[lane].value : fold(op, all, warp[lane].value);
		first = false;
	}
	return all;
}

static unsigned long long matching(const struct thread *warp, unsigned lanes, unsigned long long value) {
	unsigned same = 0;
	for (unsigned lane = 0; lane < WARP; lane++)
		if (lanes >> lane & 1)
			same |= (unsigned)(warp[lane].value == value) << lane;
	return same;
}

static unsigned long long ballot(const struct thread *warp, unsigned lanes) {
	return lanes & ~(unsigned)matching(warp, lanes, 0);
}

/* A value from a lane that does not take part is undefined, so return one that is seldom right. */
static unsigned long long shuffled(const struct thread *warp, unsigned lanes, const struct thread *thread) {
	if (thread->argument < 0)
		return thread->value;
	return lanes >> thread->argument & 1 ? warp[thread->argument].value : 0xa5a5a5a5a5a5a5a5ULL;
}

static void finish(struct block *block, struct thread *warp, unsigned lanes, enum emulated_op op) {
	unsigned long long all = op == EMULATED_BALLOT ? ballot(warp, lanes)
	                         : op >= EMULATED_ADD  ? fold_all(warp, op, lanes)
	                                               : 0;
	for (unsigned lane = 0; lane < WARP; lane++) {
		struct thread *thread = &warp[lane];
		if (!(lanes >> lane & 1))
			continue;
		thread->result = op == EMULATED_SHUFFLE ? shuffled(warp, lanes, thread)
		                 : op == EMULATED_MATCH ? matching(warp, lanes, thread->value)
		                                        : all;
		thread_set(block, thread, THREAD_READY);
	}
}

bool warp_try(struct block *block, const struct thread *thread) {
	struct thread *warp = warp_of(block, thread);
	unsigned lanes = thread->mask & warp_alive(block, thread);
	if (lanes & ~block->lanes_together[thread->number / WARP])
		return false;
	for (unsigned left = lanes; left; left &= left - 1) {
		const struct thread *other = &warp[__builtin_ctz(left)];
		if (other->op != thread->op || other->mask != thread->mask)
			return false;
	}
	finish(block, warp, lanes, thread->op);
	return true;
}

/* Others may have waited for it alone. */
void warp_left(struct block *block, const struct thread *ended) {
	struct thread *warp = warp_of(block, ended);
	const unsigned *together = &block->lanes_together[ended->number / WARP];
	for (unsigned lane = 0; lane < WARP && *together; lane++)
		if (*together >> lane & 1)
			block->grid->progress += warp_try(block, &warp[lane]);
}
