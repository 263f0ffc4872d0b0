/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU for a test: the real one where there is one, otherwise the emulator's. */
#ifndef TESTS_GPU_DEVICE_H
#define TESTS_GPU_DEVICE_H
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/open.h"

/* The loader finds the emulator's libraries by a path that it reads when the program starts, hence exec. Returns
 * only on failure. */
static inline void device_emulated(char **argv) {
	const char *build = getenv("BUILDDIR");
	char path[1024];
	if (getenv("SWEETSPOT_EMULATED"))
		return;
	snprintf(path, sizeof path, "%s/tests/gpu/emulator", build ? build : ".");
	setenv("LD_LIBRARY_PATH", path, 1);
	setenv("SWEETSPOT_EMULATED", "1", 1);
	execv("/proc/self/exe", argv);
}

static inline bool device_is_emulated(void) {
	return getenv("SWEETSPOT_EMULATED");
}

/* The kernels' sources are beside the data. */
static inline void device_sources(void) {
	const char *source = getenv("SRCDIR");
	char path[1024];
	snprintf(path, sizeof path, "%s/data", source ? source : "..");
	setenv("SWEETSPOT_DATA", path, 0);
}

/* NULL: why not is in err. real: a GPU that is there is taken. */
static inline struct gpu *device_get(char **argv, bool real, struct err *err) {
	struct gpu_facts facts;
	device_sources();
	if (!real || !gpu_probe(0, &facts)) {
		if (!*EMULATOR_CXX) {
			err_set(err, ERR_UNAVAILABLE, NULL, "no GPU, and no g++ for the emulator");
			return NULL;
		}
		device_emulated(argv);
	}
	return gpu_open(0, err);
}

#endif
