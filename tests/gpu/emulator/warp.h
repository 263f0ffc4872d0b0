/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations across the lanes of a warp (the *_sync intrinsics). */
#ifndef TESTS_GPU_EMULATOR_WARP_H
#define TESTS_GPU_EMULATOR_WARP_H
#include "tests/gpu/emulator/block.h"

/* false: the lane is not in its own mask */
bool warp_enter(struct thread *thread, enum emulated_op op, unsigned mask, unsigned long long value, int argument);
/* True once all lanes it waits for have arrived: then they get their results and may continue. */
bool warp_try(struct block *block, const struct thread *thread);
void warp_left(struct block *block, const struct thread *ended);
unsigned warp_alive(const struct block *block, const struct thread *thread);

#endif
