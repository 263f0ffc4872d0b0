/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/registry.h"

#include <string.h>

#define KERNEL(name, source) extern const struct ss_kernel kernel_##name;
#include "kernels/registry.def"
#undef KERNEL

const struct kernel_entry kernel_registry[] = {
#define KERNEL(name, source) {&kernel_##name, source},
#include "kernels/registry.def"
#undef KERNEL
	{NULL, NULL},
};

const struct kernel_entry *kernel_find(const char *name) {
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++)
		if (strcmp(entry->kernel->name, name) == 0)
			return entry;
	return NULL;
}
