/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins: shared objects with kernels of other people, loaded once and kept to the end. */
#ifndef SRC_WORKER_KERNEL_LIBRARY_H
#define SRC_WORKER_KERNEL_LIBRARY_H
#include "kernels/registry.h"
#include "src/base/err.h"
#include "src/base/mem.h"

enum { LIBRARIES_MAX = 64, LIBRARY_KERNELS_MAX = 64 };

struct libraries;

struct libraries *libraries_new(void);
void libraries_free(struct libraries *libraries); /* unloads nothing: threads may still be in there */
/* The kernels of the plug-in with this absolute path, ended by a NULL one, each with the hash of the file as source;
 * they live as long as the process. ERR_USAGE says what is wrong with the file or its tables, or that it has changed
 * since it was loaded. */
const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err);

/* Everything that the tables say, before any of it is used. */
int library_check(const struct ss_plugin *plugin, struct err *err);

#endif
