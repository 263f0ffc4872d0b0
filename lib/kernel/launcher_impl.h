/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot-launcher.so. */
#ifndef LIB_KERNEL_LAUNCHER_IMPL_H
#define LIB_KERNEL_LAUNCHER_IMPL_H
#include <pthread.h>

#include "base/t1/t1.h"
#include "gpu/open.h"
#include "lib/kernel/kernel_impl.h"

enum { KERNEL_PARAMS_MAX = 32, KERNEL_FILE_MAX = 16 << 20 };

/* The contents of the file; they do not change. */
struct kernel_spec {
	struct arena *arena;
	json_t *root;
	const char *name, *function, *file; /* name: in profiles; file: of the source, without its folder */
	const char *const *options;
	char *source;
	struct t1_launch launch; /* the names have the default values */
	struct t1_param params[KERNEL_PARAMS_MAX];
	size_t param_count;
	char **conditions; /* in Python, NULL-terminated */
	json_t *otherwise; /* the default configuration */
};

/* path: a T1 specification, or a source whose numbers come from its own lines `#define NAME NUMBER`. */
int kernel_spec_read(struct kernel_spec *spec, const char *path, const char *name, struct err *err);
void kernel_spec_clear(struct kernel_spec *spec);
#endif
