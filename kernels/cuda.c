/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/cuda.h"

const struct gpu_module *cuda_program(const struct ss_kernel *kernel, const struct ss_call *call) {
	struct ss_program program = {.source = NULL};
	struct gpu_defines defines = {.count = 0};
	kernel->program(call, &program);
	for (size_t i = 0; i < program.count; i++)
		gpu_define(&defines, program.names[i], program.values[i]);
	return gpu_module(call->gpu, program.source, &defines);
}
