/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch SPECIFICATION: what a launch by libsweetspot costs the host, beside cuLaunchKernel of the same kernel, in
 * rounds that take turns. Build: cc launch.c $(pkg-config --cflags --libs sweetspot) -I$CUDA/include -lcuda */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sweetspot.h>
#include <time.h>

enum { ROUNDS = 41, LAUNCHES = 500 }; /* fewer than the queue of a stream holds, so that no launch waits */

static const char *const image = ".version 7.0\n.target sm_70\n.address_size 64\n"
								 ".visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n, "
								 ".param .u64 used) {\n ret;\n}\n";

static double now(void) {
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static void fine(int result, const char *what) {
	if (result == 0)
		return;
	fprintf(stderr, "launch: %s failed with %d\n", what, result);
	exit(1);
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print(const char *name, double *us) {
	qsort(us, ROUNDS, sizeof *us, by_value);
	printf("%-24s %.3f us a launch (median of %d rounds of %d), %.3f to %.3f\n", name, us[ROUNDS / 2], ROUNDS, LAUNCHES,
	       us[ROUNDS / 10], us[ROUNDS - 1 - ROUNDS / 10]);
}

int main(int argc, char **argv) {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUdeviceptr y, x, used;
	int n = 1024;
	float a = 2;
	char name[100];
	double by_driver[ROUNDS], by_library[ROUNDS];
	fine(cuInit(0), "cuInit");
	fine(cuDeviceGet(&device, 0), "cuDeviceGet");
	fine(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
	fine(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	fine(cuCtxSetCurrent(context), "cuCtxSetCurrent");
	fine(cuMemAlloc(&y, 4096) || cuMemAlloc(&x, 4096) || cuMemAlloc(&used, 4096), "cuMemAlloc");
	fine(cuModuleLoadData(&module, image), "cuModuleLoadData");
	fine(cuModuleGetFunction(&function, module, "saxpy"), "cuModuleGetFunction");
	sweetspot_gpu_kernel *kernel = sweetspot_kernel_open(argc > 1 ? argv[1] : "saxpy.t1.json", NULL);
	void *arguments[] = {&y, &x, &a, &n, &used};
	struct sweetspot_value problem[] = {{"n", n, NULL}, {NULL, 0, NULL}};
	double begun = now();
	if (sweetspot_kernel_launch(kernel, NULL, arguments, problem)) {
		fprintf(stderr, "launch: %s\n", sweetspot_kernel_message(kernel));
		return 1;
	}
	printf("%s\n%-24s %.1f ms\n", name, "the first launch", 1e-3 * (now() - begun));
	for (int round = -1; round < ROUNDS; round++) { /* the first one warms up */
		double start = now(), middle, end;
		for (int i = 0; i < LAUNCHES; i++)
			fine(cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL), "cuLaunchKernel");
		middle = now();
		fine(cuCtxSynchronize(), "cuCtxSynchronize");
		double again = now();
		for (int i = 0; i < LAUNCHES; i++)
			fine(sweetspot_kernel_launch(kernel, NULL, arguments, problem), "sweetspot_kernel_launch");
		end = now();
		fine(cuCtxSynchronize(), "cuCtxSynchronize");
		if (round >= 0) {
			by_driver[round] = (middle - start) / LAUNCHES;
			by_library[round] = (end - again) / LAUNCHES;
		}
	}
	print("cuLaunchKernel", by_driver);
	print("sweetspot_kernel_launch", by_library);
	sweetspot_kernel_close(kernel);
	return 0;
}
