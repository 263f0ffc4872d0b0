/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/app/built.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *source;
} kernels[] = {
#define KERNEL(name, source) {#name, source},
#include "src/app/sources.def"
#undef KERNEL
};

/* The OpenMP runtime that the compiler links by default, unless the flags name another one. */
static const char *runtime(void) {
	if (strstr(SS_CFLAGS, "-fopenmp=libgomp"))
		return "libgomp";
#ifdef __clang__
	return "libomp";
#else
	return "libgomp";
#endif
}

json_t *built_json(void) {
	return json_pack("{s:s, s:s, s:{s:s, s:i}}", "compiler", SS_COMPILER, "cflags", SS_CFLAGS, "openmp", "runtime",
	                 runtime(), "version", _OPENMP);
}

const char *built_source(const char *kernel, const char *device) {
	char name[128];
	snprintf(name, sizeof name, "%s%s", kernel, strncmp(device, "cuda", 4) == 0 ? "_cuda" : "");
	for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return kernels[i].source;
	return NULL;
}
