/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_GPU_EMULATOR_FUNCTION_H
#define TESTS_GPU_EMULATOR_FUNCTION_H
#include "tests/gpu/emulator/abi.h"
#include "tests/gpu/emulator/link.h"

struct function {
	struct function *next;
	const struct emulated_kernel *kernel;
	const struct emulated_module *code;
	int dynamic_max;
	char name[128];
};

#endif
