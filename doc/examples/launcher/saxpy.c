/* SPDX-License-Identifier: BSD-3-Clause */
/* saxpy [SPECIFICATION [N [NAME]]]: launches a kernel as it was tuned for this GPU and this size. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <sweetspot.h>

static void fine(CUresult result, const char *what) {
	if (result == CUDA_SUCCESS)
		return;
	fprintf(stderr, "%s: CUDA error %d\n", what, (int)result);
	exit(1);
}

/* The context that the program works in; the launcher joins it. */
static void context_make(void) {
	CUdevice device;
	CUcontext context;
	fine(cuInit(0), "cuInit");
	fine(cuDeviceGet(&device, 0), "cuDeviceGet");
	fine(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
	fine(cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

static CUdeviceptr filled(float value, int n) {
	CUdeviceptr memory;
	float *host = malloc((size_t)n * sizeof *host);
	fine(host ? cuMemAlloc(&memory, (size_t)n * sizeof *host) : CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc");
	for (int i = 0; i < n; i++)
		host[i] = value;
	fine(cuMemcpyHtoD(memory, host, (size_t)n * sizeof *host), "cuMemcpyHtoD");
	free(host);
	return memory;
}

static int failed(const sweetspot_gpu_kernel *kernel) {
	fprintf(stderr, "saxpy: %s\n", sweetspot_kernel_message(kernel));
	return 1;
}

int main(int argc, char **argv) {
	int n = argc > 2 ? atoi(argv[2]) : 1 << 20, used = 0;
	context_make();
	sweetspot_gpu_kernel *kernel =
		sweetspot_kernel_open(argc > 1 ? argv[1] : "saxpy.t1.json", argc > 3 ? argv[3] : NULL);
	CUdeviceptr y = filled(1, n), x = filled(3, n), block = filled(0, 1);
	float a = 2, first, last;
	void *arguments[] = {&y, &x, &a, &n, &block};
	struct sweetspot_value problem[] = {{argc > 3 ? "x" : "n", n, NULL}, {NULL, 0, NULL}};
	struct sweetspot_match match;
	for (int i = 0; i < 100; i++)
		if (sweetspot_kernel_launch(kernel, NULL, arguments, problem))
			return failed(kernel);
	if (sweetspot_kernel_match(kernel, problem, &match) < 0)
		return failed(kernel);
	fine(cuMemcpyDtoH(&first, y, sizeof first), "cuMemcpyDtoH");
	fine(cuMemcpyDtoH(&last, y + (size_t)(n - 1) * sizeof last, sizeof last), "cuMemcpyDtoH");
	fine(cuMemcpyDtoH(&used, block, sizeof used), "cuMemcpyDtoH");
	printf("n %d: blocks of %d (%s), %g .. %g\n", n, used, sweetspot_status_word(match.status), first, last);
	if (*sweetspot_kernel_message(kernel))
		printf("note: %s\n", sweetspot_kernel_message(kernel));
	sweetspot_kernel_close(kernel);
	return 0;
}
