/* SPDX-License-Identifier: BSD-3-Clause */
/* Like register.cu, with a tile for each warp in between: its 32 threads are 4 x 8 (or 8 x 4) neighbours, so that what they
 * read from shared memory is two short runs of neighbouring quads, and pairs of threads get the same one (NVIDIA, CUTLASS,
 * "Efficient GEMM in CUDA"). Strips of A and B, BLOCK_K deep, are in BUFFERS parts of shared memory, and one barrier a
 * strip is enough, because the part that is filled is the one that was used up before the barrier. The operands of the
 * next multiplication are read before this one. The host orders the blocks by the grid: x and z are rows of blocks, y
 * their column, so that x of them share a column of B in the cache at a time. Sizes are those of the padded matrices. */
#include "sweetspot.cuh"

enum {
	LANES_N = THREAD_M < THREAD_N ? 4 : 8,
	LANES_M = 32 / LANES_N,
	WARP_M = LANES_M * THREAD_M,
	WARP_N = LANES_N * THREAD_N,
	WARPS_N = BLOCK_N / WARP_N,
	THREADS = BLOCK_M / WARP_M * WARPS_N * 32,
	/* 512 threads of 64 sums, or 256 of 128, fill the registers of an SM. */
	BLOCKS = 32768 / (BLOCK_M * BLOCK_N) > 4 ? 4 : 32768 / (BLOCK_M * BLOCK_N),
	PITCH = BLOCK_M + 4, /* of A's strip, which is turned: a row for each of its columns */
	STRIP_A = BLOCK_K * PITCH,
	STRIP = STRIP_A + BLOCK_K * BLOCK_N,
	RUN = 8, /* columns of A that neighbouring threads copy */
	COPIES_A = BLOCK_M * BLOCK_K / THREADS,
	QUADS_B = BLOCK_K * BLOCK_N / 4,
	COPIES_B = (QUADS_B + THREADS - 1) / THREADS,
	COPIES = COPIES_A + COPIES_B,
	LAST = BLOCK_K - 1
};

struct operands {
	alignas(16) float left[THREAD_M], right[THREAD_N];
};

/* This thread's share of the next strip. */
struct source {
	const float *a, *b;
	int n, k, thread;
};

static __device__ __forceinline__ source source_first(const float *a, const float *b, int n, int k, int row, int column,
                                                      int thread) {
	a += (ss_i64)(row + thread / RUN) * k + thread % RUN;
	b += (ss_i64)(thread / (BLOCK_N / 4)) * n + column + thread % (BLOCK_N / 4) * 4;
	return {a, b, n, k, thread};
}

/* One of COPIES. Constants are kept apart from what depends on the thread, so that they become part of addresses. */
static __device__ __forceinline__ void source_copy(const source &from, float *strip, int copy) {
	const int thread = from.thread;
	if (copy < COPIES_A) {
		const int row = copy * (THREADS / RUN) % BLOCK_M, p = copy * THREADS / (RUN * BLOCK_M) * RUN;
		ss_copy4(strip + thread % RUN * PITCH + thread / RUN + p * PITCH + row, from.a + (ss_i64)row * from.k + p);
	} else if (QUADS_B >= THREADS || thread < QUADS_B) {
		const int row = (copy - COPIES_A) * (THREADS / (BLOCK_N / 4));
		ss_copy16(strip + STRIP_A + thread * 4 + row * BLOCK_N, from.b + (ss_i64)row * from.n);
	}
}

static __device__ __forceinline__ void source_next(source &from) {
	from.a += BLOCK_K;
	from.b += (ss_i64)BLOCK_K * from.n;
}

/* a, b: the first quads of this thread in the strip. */
static __device__ __forceinline__ void operands_read(operands &to, const float *a, const float *b, int p) {
#pragma unroll
	for (int q = 0; q < THREAD_M / 4; q++)
		*(float4 *)&to.left[4 * q] = *(const float4 *)&a[p * PITCH + 4 * q * LANES_M];
#pragma unroll
	for (int q = 0; q < THREAD_N / 4; q++)
		*(float4 *)&to.right[4 * q] = *(const float4 *)&b[p * BLOCK_N + 4 * q * LANES_N];
}

/* To and fro, so that an operand is still at hand for the next product. */
static __device__ __forceinline__ void operands_multiply(const operands &some, float (&sums)[THREAD_M][THREAD_N]) {
#pragma unroll
	for (int j = 0; j < THREAD_N; j++)
#pragma unroll
		for (int i = 0; i < THREAD_M; i++) {
			const int row = j % 2 ? THREAD_M - 1 - i : i;
			sums[row][j] += some.left[row] * some.right[j];
		}
}

static __device__ __forceinline__ int after(int buffer) {
	return buffer + 1 == BUFFERS ? 0 : buffer + 1;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) gemm_warp(const float *a, const float *b, float *c, int n,
                                                                        int k) {
	SS_DYNAMIC(float, strips);
	const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, count = k / BLOCK_K;
	const int row = (blockIdx.z * gridDim.x + blockIdx.x) * BLOCK_M, column = blockIdx.y * BLOCK_N;
	const int y = warp / WARPS_N * WARP_M + 4 * (lane % 2 + lane / (2 * LANES_N) * 2);
	const int x = warp % WARPS_N * WARP_N + 4 * (lane / 2 % LANES_N);
	alignas(16) float sums[THREAD_M][THREAD_N] = {};
	operands some[2];
	source from = source_first(a, b, n, k, row, column, thread);
#pragma unroll
	for (int s = 0; s < BUFFERS - 1; s++) {
		if (s < count)
#pragma unroll
			for (int i = 0; i < COPIES; i++)
				source_copy(from, strips + s * STRIP, i);
		source_next(from);
		ss_copies_commit();
	}
	ss_copies_wait<BUFFERS - 2>();
	__syncthreads();
	operands_read(some[0], strips + y, strips + STRIP_A + x, 0);
	for (int at = 0, now = 0, filled = BUFFERS - 1; at < count; at++) {
		const float *strip = strips + now * STRIP;
		const bool more = at + BUFFERS - 1 < count;
		now = after(now);
#pragma unroll
		for (int p = 0; p < BLOCK_K; p++) {
			if (p == LAST) {
				ss_copies_wait<BUFFERS - 2>();
				__syncthreads();
				strip = strips + now * STRIP;
			}
			operands_read(some[(p + 1) % 2], strip + y, strip + STRIP_A + x, (p + 1) % BLOCK_K);
			if (more)
#pragma unroll
				for (int i = p == 0 ? 0 : COPIES; i < COPIES; i++)
					source_copy(from, strips + filled * STRIP, i);
			if (p == 0)
				ss_copies_commit();
			operands_multiply(some[p % 2], sums);
		}
		source_next(from);
		filled = after(filled);
	}
#pragma unroll
	for (int i = 0; i < THREAD_M; i++)
#pragma unroll
		for (int q = 0; q < THREAD_N / 4; q++)
			*(float4 *)&c[(ss_i64)(row + y + i / 4 * 4 * LANES_M + i % 4) * n + column + x + 4 * q * LANES_N] =
				*(const float4 *)&sums[i][4 * q];
}
