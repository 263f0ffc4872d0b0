/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins: shared objects with third-party kernels, loaded once and kept to the end. */
#ifndef WORKER_KERNEL_LIBRARY_H
#define WORKER_KERNEL_LIBRARY_H
#include <jansson.h>

#include "base/mem.h"
#include "gpu/open.h"
#include "kernels/registry.h"

enum { LIBRARIES_MAX = 64, LIBRARY_KERNELS_MAX = 64 };

struct libraries;

struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries); /* unloads nothing, because threads may still run in there */
/* The kernels of the plug-in with this absolute path, ended by a NULL kernel, each with the file's hash as source;
 * they live as long as the process. ERR_USAGE says what is wrong with the file or its tables, or that it has changed
 * since it was loaded. */
const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err);

/* Answers to "compile": configurations that a process without a device compiles into the cache on disk. */

enum { COMPILE_ARCH_LEAST = 10, COMPILE_ARCH_MOST = 1000 };

/* A request that names a kernel of ours. *compiler is made when it is first needed. New reference; NULL with err for a
 * bad request, or without a compiler. */
json_t *compile_kernel_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err);
/* The answer for what gpu_compile_ahead returned; NULL with err if the source is not the cause. */
json_t *compile_answer(bool fine, const struct gpu_ahead *ahead, struct err *why, struct err *err);
#endif
