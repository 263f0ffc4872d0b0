/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <string.h>

#include "tests/gpu/emulator/warp.h"

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

static unsigned long long fold_all(const struct warp *warp, enum emulated_op op, unsigned lanes) {
	unsigned long long all = warp->value[__builtin_ctz(lanes)];
	for (unsigned left = lanes & (lanes - 1); left; left &= left - 1)
		all = fold(op, all, warp->value[__builtin_ctz(left)]);
	return all;
}

static unsigned matching(const struct warp *warp, unsigned lanes, unsigned long long value) {
	unsigned same = 0;
	for (unsigned lane = 0; lane < WARP; lane++)
		same |= (unsigned)(warp->value[lane] == value) << lane;
	return same & lanes;
}

/* A value from a lane that does not take part is undefined, so return one that is seldom right. */
static unsigned long long shuffled(const struct warp *warp, unsigned lanes, unsigned lane) {
	int from = warp->argument[lane];
	if (from < 0)
		return warp->value[lane];
	return lanes >> from & 1 ? warp->value[from] : 0xa5a5a5a5a5a5a5a5ULL;
}

static unsigned long long result_of(const struct warp *warp, unsigned lanes, unsigned lane, enum emulated_op op) {
	switch (op) {
	case EMULATED_SYNC:
		return 0;
	case EMULATED_SHUFFLE:
		return shuffled(warp, lanes, lane);
	case EMULATED_MATCH:
		return matching(warp, lanes, warp->value[lane]);
	case EMULATED_GATHER:
		return (uintptr_t)warp->gathered;
	case EMULATED_BALLOT:
		return lanes & ~matching(warp, lanes, 0);
	default:
		return fold_all(warp, op, lanes);
	}
}

static void finish(struct warp *warp, unsigned lanes, enum emulated_op op) {
	if (op == EMULATED_GATHER)
		memcpy(warp->gathered, warp->value, sizeof warp->gathered);
	bool each = op == EMULATED_SHUFFLE || op == EMULATED_MATCH;
	unsigned long long result[WARP], all = each ? 0 : result_of(warp, lanes, 0, op);
	for (unsigned left = lanes; left; left &= left - 1) {
		unsigned lane = (unsigned)__builtin_ctz(left);
		result[lane] = each ? result_of(warp, lanes, lane, op) : all;
	}
	for (unsigned left = lanes; left; left &= left - 1)
		warp->value[__builtin_ctz(left)] = result[__builtin_ctz(left)];
	warp->together &= ~lanes;
	warp->ready |= lanes;
}

bool warp_try(struct warp *warp, unsigned lane) {
	unsigned lanes = warp->mask[lane] & warp->alive, differs = 0;
	if (lanes & ~warp->together)
		return false;
	for (unsigned other = 0; other < WARP; other++)
		differs |= (unsigned)(warp->op[other] != warp->op[lane] || warp->mask[other] != warp->mask[lane]) << other;
	if (differs & lanes)
		return false;
	finish(warp, lanes, (enum emulated_op)warp->op[lane]);
	return true;
}

unsigned warp_left(struct warp *warp) {
	unsigned finished = 0;
	for (unsigned lane = 0; lane < WARP && warp->together; lane++)
		if (warp->together >> lane & 1)
			finished += warp_try(warp, lane);
	return finished;
}
