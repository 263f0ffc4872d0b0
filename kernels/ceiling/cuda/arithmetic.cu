/* SPDX-License-Identifier: BSD-3-Clause */
/* Peaks of arithmetic: CHAINS independent chains of operations a thread, each operation waiting for the one before. Chain k
 * of thread t begins with start(t, k), is stepped `steps` times, and is written to out[t * CHAINS + k]. */
#include "sweetspot.cuh"

enum { CHAINS = 8, UNROLL = 16 };

static __device__ __forceinline__ unsigned self() {
	return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_addmin(int *out, int step, int limit, int steps) {
	int chain[CHAINS];
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		chain[k] = (int)(self() % 1021) + k;
	for (int i = 0; i < steps; i += UNROLL)
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
#pragma unroll
			for (int k = 0; k < CHAINS; k++)
				chain[k] = ss_addmin(chain[k], step, limit);
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		out[(size_t)self() * CHAINS + k] = chain[k];
}

/* Two numbers a word: the upper one begins 1 higher. */
extern "C" __global__ void __launch_bounds__(1024) ceiling_addmin2(unsigned *out, unsigned step, unsigned limit,
                                                                   int steps) {
	unsigned chain[CHAINS];
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		chain[k] = (self() % 1021 + k + 1) << 16 | (self() % 1021 + k);
	for (int i = 0; i < steps; i += UNROLL)
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
#pragma unroll
			for (int k = 0; k < CHAINS; k++)
				chain[k] = ss_addmin2(chain[k], step, limit);
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		out[(size_t)self() * CHAINS + k] = chain[k];
}

template <typename T> static __device__ __forceinline__ void multiply_add(T *out, T factor, T step, int steps) {
	T chain[CHAINS];
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		chain[k] = (T)(int)(self() % 1021 + k);
	for (int i = 0; i < steps; i += UNROLL)
#pragma unroll
		for (int u = 0; u < UNROLL; u++)
#pragma unroll
			for (int k = 0; k < CHAINS; k++)
				chain[k] = chain[k] * factor + step;
#pragma unroll
	for (int k = 0; k < CHAINS; k++)
		out[(size_t)self() * CHAINS + k] = chain[k];
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_fp32(float *out, float factor, float step, int steps) {
	multiply_add(out, factor, step, steps);
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_fp64(double *out, double factor, double step, int steps) {
	multiply_add(out, factor, step, steps);
}
