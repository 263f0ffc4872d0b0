/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/cuda.h"

enum ss_status cuda_status(const struct ss_call *call) {
	static const enum ss_status statuses[] = {[GPU_FINE] = SS_OK,         [GPU_COMPILE] = SS_COMPILE,
	                                          [GPU_REFUSED] = SS_INVALID, [GPU_NO_MEMORY] = SS_NOMEM,
	                                          [GPU_BROKEN] = SS_FAILED};
	char message[256];
	enum gpu_failure failure = gpu_failed(call->gpu, message, sizeof message);
	return failure == GPU_FINE ? SS_OK : kernel_fail(call, statuses[failure], "%s", message);
}

const struct gpu_module *cuda_program(const struct ss_kernel *kernel, const struct ss_call *call) {
	struct ss_program program = {.source = NULL};
	struct gpu_defines defines = {.count = 0};
	kernel->program(call, &program);
	for (size_t i = 0; i < program.count; i++)
		gpu_define(&defines, program.names[i], program.values[i]);
	return gpu_module(call->gpu, program.source, &defines);
}
