/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of the layer: a device, and kernels to try it with. */
#ifndef TESTS_GPU_LAYER_H
#define TESTS_GPU_LAYER_H
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "gpu/open.h"
#include "base/mem.h"
#include "tests/tap.h"

static const char layer_source[] = "#include \"sweetspot.cuh\"\n"
								   "#ifndef FACTOR\n"
								   "#define FACTOR 1\n"
								   "#endif\n"
								   "extern \"C\" __global__ void scale(int *to, const int *from, int n) {\n"
								   "	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
								   "blockDim.x) to[i] = FACTOR * from[i];\n"
								   "}\n"
								   "extern \"C\" __global__ void add(unsigned *to, unsigned value) {\n"
								   "	if (threadIdx.x == 0) atomicAdd(to, value);\n"
								   "}\n"
								   "extern \"C\" __global__ void reverse(int *data, int n) {\n"
								   "	SS_DYNAMIC(int, all);\n"
								   "	for (int i = threadIdx.x; i < n; i += blockDim.x) all[i] = data[i];\n"
								   "	__syncthreads();\n"
								   "	for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = all[n - 1 - i];\n"
								   "}\n"
								   "extern \"C\" __global__ void meet(unsigned *barrier, unsigned *sum) {\n"
								   "	if (threadIdx.x == 0) atomicAdd(&sum[0], 1u);\n"
								   "	ss_grid_barrier(barrier);\n"
								   "	if (threadIdx.x == 0) atomicAdd(&sum[1], *(volatile unsigned *)&sum[0]);\n"
								   "}\n"
								   "extern \"C\" __global__ void crash(int *to) {\n"
								   "	to[threadIdx.x] = 1;\n"
								   "}\n";

__attribute__((unused)) static const struct gpu_function *layer_function(struct gpu *gpu, const char *name) {
	return gpu_function(gpu, gpu_module_text(gpu, "layer.cu", layer_source, NULL, NULL), name);
}

/* The failure since the last time, and that its message has the word. */
__attribute__((unused)) static bool layer_failed(struct gpu *gpu, enum gpu_failure failure, const char *word) {
	char message[256];
	enum gpu_failure got = gpu_failed(gpu, message, sizeof message);
	bool right = got == failure && (failure == GPU_FINE || strstr(message, word));
	if (!right)
		printf("# failure %d: %s\n", (int)got, message);
	return right;
}

/* Removes the folder for the cache. */
__attribute__((unused)) static int layer_tidy(void) {
	char *command = mem_printf("rm -rf '%s'", getenv("XDG_CACHE_HOME"));
	int removed = system(command);
	free(command);
	return removed != 0;
}

/* A folder of its own for the cache, in the build folder and always the same: the next start removes one that a killed
 * test has left. */
__attribute__((unused)) static bool layer_start(void) {
	const char *build = getenv("BUILDDIR"), *source = getenv("SRCDIR");
	char *top = realpath(build ? build : ".", NULL);
	char *home = mem_printf("%s/tests/gpu/%s.home", top ? top : ".", program_invocation_short_name);
	char *data = mem_printf("%s/data", source ? source : ".");
	setenv("XDG_CACHE_HOME", home, 1);
	setenv("SWEETSPOT_DATA", data, 1);
	bool made = layer_tidy() == 0 && mkdir(home, 0700) == 0;
	free(data);
	free(home);
	free(top);
	return made;
}

__attribute__((unused)) static int layer_end(void) {
	return layer_tidy() | tap_done();
}
#endif
