/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One launch of a kernel, from the first block to the last. */
#ifndef TESTS_GPU_EMULATOR_LAUNCH_H
#define TESTS_GPU_EMULATOR_LAUNCH_H
#include "tests/gpu/emulator/abi.h"
#include "tests/gpu/emulator/link.h"

struct launch {
	const struct emulated_kernel *kernel;
	const struct emulated_module *module;
	const char *name;
	struct emulated_xyz grid, block;
	size_t dynamic; /* bytes of shared memory */
	int cooperative;
	void **arguments;
};

CUresult launch_run(const struct launch *launch);

#endif
