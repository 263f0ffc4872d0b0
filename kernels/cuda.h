/* SPDX-License-Identifier: BSD-3-Clause */
/* What kernels for device=cuda share.
 *
 * Such a kernel is a table of its own, kernels/NAME/cuda/NAME_cuda.c, with the name of the CPU's kernel, `.device = "cuda"`
 * and no OpenMP flags. Its code is in .cu files beside it, one a variant, compiled at run time with the configuration as -D.
 * call->gpu is the device. run need not wait for what it launches in the gpu's own stream: the worker times with events
 * there, and waits. What run gives to other streams or other GPUs it joins to that stream before it returns. */
#ifndef KERNELS_CUDA_H
#define KERNELS_CUDA_H
#include "gpu/gpu.h"
#include "kernels/fail.h"

/* Of a hook: what became of all GPU calls since the last time, as a status with its message. */
enum ss_status cuda_status(const struct ss_call *call);
/* The module of this configuration, as the kernel's `program` hook describes it. NULL after a failure. */
const struct gpu_module *cuda_program(const struct ss_kernel *kernel, const struct ss_call *call);

#endif
