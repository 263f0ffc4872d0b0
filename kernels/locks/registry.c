/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/locks/registry.h"

#include <string.h>

const struct lock_kind *const lock_registry[] = {
#define LOCK(name) &lock_##name,
#include "kernels/locks/registry.def"
#undef LOCK
	NULL,
};

const struct lock_kind *lock_find(const char *name) {
	for (const struct lock_kind *const *kind = lock_registry; *kind; kind++)
		if (strcmp((*kind)->name, name) == 0)
			return *kind;
	return NULL;
}
