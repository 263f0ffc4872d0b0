/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins: shared objects with third-party kernels, loaded once and kept to the end. */
#ifndef WORKER_KERNEL_LIBRARY_H
#define WORKER_KERNEL_LIBRARY_H
#include "kernels/registry.h"
#include "base/err.h"
#include "base/mem.h"

enum { LIBRARIES_MAX = 64, LIBRARY_KERNELS_MAX = 64 };

struct libraries;

struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries); /* unloads nothing, because threads may still run in there */
/* The kernels of the plug-in with this absolute path, ended by a NULL kernel, each with the file's hash as source;
 * they live as long as the process. ERR_USAGE says what is wrong with the file or its tables, or that it has changed
 * since it was loaded. */
const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err);

#endif
