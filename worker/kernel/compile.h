/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to "compile": configurations that a process without a device compiles into the cache on disk. */
#ifndef WORKER_KERNEL_COMPILE_H
#define WORKER_KERNEL_COMPILE_H
#include <jansson.h>

#include "gpu/open.h"

enum { COMPILE_ARCH_LEAST = 10, COMPILE_ARCH_MOST = 1000 };

/* A request that names a kernel of ours. *compiler is made when it is first needed. New reference; NULL with err for a
 * bad request, or without a compiler. */
json_t *compile_kernel_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err);
/* The answer for what gpu_compile_ahead returned; NULL with err if the source is not the cause. */
json_t *compile_answer(bool fine, const struct gpu_ahead *ahead, struct err *why, struct err *err);

#endif
