/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by kernels for device=cuda.
 *
 * Such a kernel is a table of its own, kernels/NAME/cuda/NAME_cuda.c, with the name of the CPU's kernel, `.device =
 * "cuda"` and no OpenMP flags. Its code is in .cu files beside it, one for each variant, compiled at run time with
 * the configuration as -D. call->gpu is the device. run need not wait for its launches in the gpu's own stream: the
 * worker times with events there, and waits. Launches in other streams or on other GPUs must join that stream before
 * run returns. */
#ifndef KERNELS_CUDA_H
#define KERNELS_CUDA_H
#include <stdio.h>

#include "gpu/gpu.h"
#include "kernels/fail.h"

/* The outcome of all GPU calls of a hook since the last time, as a status with its message. It is in the header because
 * workers with kernels of their own need it, too. */
static inline enum ss_status cuda_status(const struct ss_call *call) {
	static const enum ss_status statuses[] = {[GPU_FINE] = SS_OK,
	                                          [GPU_COMPILE] = SS_COMPILE,
	                                          [GPU_REFUSED] = SS_INVALID,
	                                          [GPU_NO_MEMORY] = SS_NOMEM,
	                                          [GPU_BROKEN] = SS_FAILED};
	char message[256];
	enum gpu_failure failure = gpu_failed(call->gpu, message, sizeof message);
	if (failure != GPU_FINE && call->message)
		snprintf(call->message, call->message_size, "%s", message);
	return statuses[failure];
}

/* The name of a configuration's source and its -D, as the kernel's `program` hook describes them. It needs no device.
 */
static inline const char *cuda_program_source(const struct ss_kernel *kernel, const struct ss_call *call,
                                              struct gpu_defines *defines) {
	struct ss_program program = {.source = NULL};
	*defines = (struct gpu_defines){.count = 0};
	kernel->program(call, &program);
	for (size_t i = 0; i < program.count; i++)
		gpu_define(defines, program.names[i], program.values[i]);
	return program.source;
}

/* The module of it. NULL after a failure. */
const struct gpu_module *cuda_program(const struct ss_kernel *kernel, const struct ss_call *call);
#endif
