/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels whose results are known, and some with a mistake. */
#include "sweetspot.cuh"
#include <cuda_fp16.h>

extern __shared__ int part[];

extern "C" __global__ void __launch_bounds__(256) reduce(const int *in, int *out, int n) {
	const int i = blockIdx.x * 256 + threadIdx.x;
	part[threadIdx.x] = i < n ? in[i] : 0;
	for (int half = 128; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
	}
	if (threadIdx.x == 0)
		atomicAdd(out, part[0]);
}

extern "C" __global__ void transpose(const int *in, int *out, int n) {
	SS_DYNAMIC(int, tile);
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	if (x < n && y < n)
		tile[threadIdx.y * 17 + threadIdx.x] = in[y * n + x];
	__syncthreads();
	x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
	if (x < n && y < n)
		out[y * n + x] = tile[threadIdx.x * 17 + threadIdx.y];
}

/* Inclusive, of each warp. */
extern "C" __global__ void scan(const int *in, int *out, int n) {
	const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
	int sum = i < n ? in[i] : 0;
	for (int d = 1; d < 32; d *= 2) {
		const int left = __shfl_up_sync(0xffffffff, sum, d);
		sum += lane >= d ? left : 0;
	}
	if (i < n)
		out[i] = sum;
}

extern "C" __global__ void vote(int *out) {
	const int lane = threadIdx.x;
	out[lane] = (int)__ballot_sync(0xffffffff, lane % 3 == 0);
	out[32 + lane] = (int)__match_any_sync(0xffffffff, lane / 5);
	out[64 + lane] = __reduce_max_sync(0xffffffff, lane ^ 21);
	out[96 + lane] = __shfl_xor_sync(0xffffffff, lane, 3, 8);
	out[128 + lane] = __syncthreads_count(lane > 4);
	out[160 + lane] = (int)__half2float(__hadd(__float2half(2048), __float2half(lane)));
}

/* Each block writes, then reads the next one's value. */
extern "C" __global__ void neighbours(int *at, int *out, unsigned *barrier, int rounds) {
	__shared__ int seen;
	for (int r = 0; r < rounds; r++) {
		if (threadIdx.x == 0)
			at[blockIdx.x] = r * 1000 + blockIdx.x;
		ss_grid_barrier(barrier);
		if (threadIdx.x == 7)
			seen = at[(blockIdx.x + 1) % gridDim.x];
		ss_grid_barrier(barrier);
	}
	if (threadIdx.x == 0)
		out[blockIdx.x] = seen;
}

/* A barrier is missing: right only where lower threads come first. */
extern "C" __global__ void unguarded(int *out) {
	__shared__ int part[64];
	part[threadIdx.x] = threadIdx.x;
	if (threadIdx.x > 0)
		out[threadIdx.x] = part[threadIdx.x - 1];
}

extern "C" __global__ void store(int *at, long long index) {
	at[index] = 1;
}
extern "C" __global__ void divergent(int *out) {
	if (threadIdx.x < 5)
		__syncthreads();
	else
		__syncthreads();
	out[0] = 1;
}
extern "C" __global__ void forever(volatile int *flag) {
	while (threadIdx.x == 0 && *flag == 0)
		ss_pause();
	__syncthreads();
}
extern "C" __global__ void divide(int *at) {
	at[0] = 7 / at[0];
}
#ifdef WRONG
extern "C" __global__ void wrong(int *out) {
	out[0] = nowhere;
}
#endif
