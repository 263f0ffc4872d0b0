/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations across the lanes of a warp (the *_sync intrinsics). */
#ifndef TESTS_GPU_EMULATOR_WARP_H
#define TESTS_GPU_EMULATOR_WARP_H
#include "tests/gpu/emulator/block.h"

/* Once all lanes that this one waits for have arrived, they get their results and may continue: then true. */
bool warp_try(struct warp *warp, unsigned lane);
/* The lane is in its mask, and waits together. */
static inline bool warp_enter(struct warp *warp, unsigned lane, enum emulated_op op, unsigned mask,
                              unsigned long long value, int argument) {
	warp->op[lane] = op;
	warp->mask[lane] = mask;
	warp->value[lane] = value;
	warp->argument[lane] = argument;
	return !(mask & warp->alive & ~warp->together) && warp_try(warp, lane);
}
/* A lane has ended, for which alone others may have waited; how many groups of lanes may continue. */
unsigned warp_left(struct warp *warp);

#endif
