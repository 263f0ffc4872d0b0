/* SPDX-License-Identifier: BSD-3-Clause */
/* The built-in kernels, in the order of the list in local.mk. */
#ifndef KERNELS_REGISTRY_H
#define KERNELS_REGISTRY_H
#include "kernels/kernel.h"

struct kernel_entry {
	const struct ss_kernel *kernel;
	const char *source; /* "sha256:..." over the kernel's source files */
};
extern const struct kernel_entry kernel_registry[]; /* ends with a NULL kernel */
const struct kernel_entry *kernel_find(const char *name);

#endif
