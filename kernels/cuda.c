/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/cuda.h"

const struct gpu_module *cuda_program(const struct ss_kernel *kernel, const struct ss_call *call) {
	struct gpu_defines defines;
	const char *source = cuda_program_source(kernel, call, &defines);
	return gpu_module(call->gpu, source, &defines);
}
