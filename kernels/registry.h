/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in kernels, in the order of the list in local.mk. One name may stand there for several devices. */
#ifndef KERNELS_REGISTRY_H
#define KERNELS_REGISTRY_H
#include <string.h>

#include "kernels/kernel.h"

struct kernel_entry {
	const struct ss_kernel *kernel;
	const char *source; /* "sha256:..." over the kernel's source files */
};
extern const struct kernel_entry kernel_registry[];       /* ends with a NULL kernel */
const struct kernel_entry *kernel_find(const char *name); /* the CPU's */

static inline const char *kernel_device(const struct ss_kernel *kernel) {
	return kernel->device ? kernel->device : "cpu";
}

/* device: "cpu", "cuda". NULL: there is none. */
static inline const struct kernel_entry *kernel_find_on(const struct kernel_entry *entries, const char *name,
                                                        const char *device) {
	for (const struct kernel_entry *entry = entries; entry->kernel; entry++)
		if (strcmp(entry->kernel->name, name) == 0 && strcmp(kernel_device(entry->kernel), device) == 0)
			return entry;
	return NULL;
}
#endif
