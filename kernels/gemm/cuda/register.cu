/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread computes THREAD_M x THREAD_N elements in registers, a block BLOCK_M x BLOCK_N, from strips of A and B in shared
 * memory that are BLOCK_K deep (Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra", 2008; Nath, Tomov
 * and Dongarra, "An improved MAGMA GEMM for Fermi graphics processing units", 2010). With STAGES 2 the next strips are
 * copied while the last ones are used. Sizes are those of the padded matrices. */
#include "sweetspot.cuh"

enum {
	ACROSS = BLOCK_N / THREAD_N, /* threads */
	DOWN = BLOCK_M / THREAD_M,
	THREADS = ACROSS * DOWN,
	PITCH = BLOCK_M + 4, /* of A's strip, which is turned: a row for each of its columns */
	STRIP_A = BLOCK_K * PITCH,
	STRIP_B = BLOCK_K * BLOCK_N,
	QUADS_M = THREAD_M / 4,
	QUADS_N = THREAD_N / 4
};

/* Rows and columns of a thread are quads: 16 bytes that it reads at once, as far apart as all threads together need, so
 * that neighbours read from different banks. */
static __device__ __forceinline__ void strips_copy(float *to_a, float *to_b, const float *a, const float *b, int n, int k,
                                                   int thread) {
#pragma unroll
	for (int i = thread; i < BLOCK_M * BLOCK_K; i += THREADS)
		ss_copy4(to_a + i % BLOCK_K * PITCH + i / BLOCK_K, a + (ss_i64)(i / BLOCK_K) * k + i % BLOCK_K);
#pragma unroll
	for (int i = thread; i < BLOCK_K * BLOCK_N / 4; i += THREADS)
		ss_copy16(to_b + i * 4, b + (ss_i64)(i / (BLOCK_N / 4)) * n + i % (BLOCK_N / 4) * 4);
	ss_copies_commit();
}

static __device__ __forceinline__ void strips_use(const float *a, const float *b, int x, int y,
                                                  float (&sums)[THREAD_M][THREAD_N]) {
#pragma unroll
	for (int p = 0; p < BLOCK_K; p++) {
		float left[THREAD_M], right[THREAD_N];
#pragma unroll
		for (int q = 0; q < QUADS_M; q++)
			*(float4 *)&left[4 * q] = *(const float4 *)&a[p * PITCH + 4 * (q * DOWN + y)];
#pragma unroll
		for (int q = 0; q < QUADS_N; q++)
			*(float4 *)&right[4 * q] = *(const float4 *)&b[p * BLOCK_N + 4 * (q * ACROSS + x)];
#pragma unroll
		for (int i = 0; i < THREAD_M; i++)
#pragma unroll
			for (int j = 0; j < THREAD_N; j++)
				sums[i][j] += left[i] * right[j];
	}
}

extern "C" __global__ void __launch_bounds__(THREADS) gemm_register(const float *a, const float *b, float *c, int n, int k) {
	SS_DYNAMIC(float, strips);
	const int thread = threadIdx.x, x = thread % ACROSS, y = thread / ACROSS;
	const int column = blockIdx.x * BLOCK_N, row = blockIdx.y * BLOCK_M;
	const int count = k / BLOCK_K;
	float *const strip_b = strips + STAGES * STRIP_A;
	alignas(16) float sums[THREAD_M][THREAD_N] = {};
	a += (ss_i64)row * k;
	b += column;
	strips_copy(strips, strip_b, a, b, n, k, thread);
	for (int at = 0; at < count; at++) {
		const int now = STAGES == 2 ? at % 2 : 0, next = STAGES == 2 ? 1 - now : 0;
		if (STAGES == 2 && at + 1 < count) {
			strips_copy(strips + next * STRIP_A, strip_b + next * STRIP_B, a + (at + 1) * BLOCK_K,
			            b + (ss_i64)(at + 1) * BLOCK_K * n, n, k, thread);
			ss_copies_wait<1>();
		} else {
			ss_copies_wait<0>();
		}
		__syncthreads();
		strips_use(strips + now * STRIP_A, strip_b + now * STRIP_B, x, y, sums);
		__syncthreads();
		if (STAGES == 1 && at + 1 < count)
			strips_copy(strips, strip_b, a + (at + 1) * BLOCK_K, b + (ss_i64)(at + 1) * BLOCK_K * n, n, k, thread);
	}
#pragma unroll
	for (int i = 0; i < THREAD_M; i++)
#pragma unroll
		for (int q = 0; q < QUADS_N; q++)
			*(float4 *)&c[(ss_i64)(row + 4 * (i / 4 * DOWN + y) + i % 4) * n + column + 4 * (q * ACROSS + x)] =
				*(const float4 *)&sums[i][4 * q];
}
