/* SPDX-License-Identifier: BSD-3-Clause */
/* For f16 and bf16 (TYPE 1 and 2), with sums in f32: tensor cores multiply what ldmatrix reads from strips in shared memory,
 * which are DEPTH deep and in BUFFERS parts, as in warp.cu; a warp has a tile of WARP_M x WARP_N. Pieces of 16 bytes
 * are permuted in each row of a strip, so that the eight rows of a matrix are in different banks (NVIDIA, CUTLASS,
 * "Efficient GEMM in CUDA"). Sizes are those of the padded matrices. */
#include "sweetspot.cuh"

typedef unsigned short element;
enum {
	WARPS_N = BLOCK_N / WARP_N,
	THREADS = BLOCK_M / WARP_M * WARPS_N * 32,
	BLOCKS = THREADS < 256 ? 256 / THREADS : 1, /* the sums of 64 x 64 take half the registers of 8 warps */
	PIECE = 8,                                                                   /* elements of 16 bytes */
	PIECES_A = DEPTH / PIECE,                                                    /* of a row */
	PIECES_B = BLOCK_N / PIECE,
	STRIP_A = BLOCK_M * DEPTH,
	STRIP = STRIP_A + DEPTH * BLOCK_N,
	COPIES_A = BLOCK_M * PIECES_A / THREADS,
	COPIES_B = DEPTH * PIECES_B / THREADS,
	TILES_M = WARP_M / 16,
	TILES_N = WARP_N / 8,
	STEPS = DEPTH / 16
};

struct operands {
	unsigned left[TILES_M][4], right[TILES_N / 2][4];
};

/* Places of pieces. A strip of A with rows of 64 bytes has two of them in a line of banks. */
static __device__ __forceinline__ int place_a(int row, int piece) {
	return row * DEPTH + (piece ^ row * PIECES_A / 8 % PIECES_A) * PIECE;
}
static __device__ __forceinline__ int place_b(int row, int piece) {
	return row * BLOCK_N + (piece ^ row % 8) * PIECE;
}

static __device__ __forceinline__ void strips_copy(element *strip, const element *a, const element *b, int n, int k, int thread) {
#pragma unroll
	for (int i = 0; i < COPIES_A; i++) {
		const int row = thread / PIECES_A + i * (THREADS / PIECES_A);
		ss_copy16(strip + place_a(row, thread % PIECES_A), a + (ss_i64)(i * (THREADS / PIECES_A)) * k);
	}
#pragma unroll
	for (int i = 0; i < COPIES_B; i++) {
		const int row = thread / PIECES_B + i * (THREADS / PIECES_B);
		ss_copy16(strip + STRIP_A + place_b(row, thread % PIECES_B), b + (ss_i64)(i * (THREADS / PIECES_B)) * n);
	}
}

/* y, x: the first row and column of the warp's tile; lanes name 16 rows of two pieces. */
static __device__ __forceinline__ void operands_read(operands &to, const element *strip, int y, int x, int step, int lane) {
#pragma unroll
	for (int i = 0; i < TILES_M; i++)
		ss_matrices_read<false>(to.left[i], strip + place_a(y + 16 * i + lane % 16, 2 * step + lane / 16));
#pragma unroll
	for (int j = 0; j < TILES_N / 2; j++)
		ss_matrices_read<true>(to.right[j], strip + STRIP_A + place_b(16 * step + lane % 16, x / PIECE + 2 * j + lane / 16));
}

static __device__ __forceinline__ void operands_multiply(const operands &some, float (&sums)[TILES_M][TILES_N][4]) {
#pragma unroll
	for (int i = 0; i < TILES_M; i++)
#pragma unroll
		for (int j = 0; j < TILES_N; j++) {
			const int across = i % 2 ? TILES_N - 1 - j : j;
			ss_mma_16<TYPE>(sums[i][across], some.left[i], &some.right[across / 2][across % 2 * 2]);
		}
}

static __device__ __forceinline__ int after(int buffer) {
	return buffer + 1 == BUFFERS ? 0 : buffer + 1;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) gemm_mma(const element *a, const element *b, float *c, int n,
                                                                       int k) {
	SS_DYNAMIC(element, strips);
	const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, count = k / DEPTH;
	const int row = (blockIdx.z * gridDim.x + blockIdx.x) * BLOCK_M, column = blockIdx.y * BLOCK_N;
	const int y = warp / WARPS_N * WARP_M, x = warp % WARPS_N * WARP_N;
	float sums[TILES_M][TILES_N][4] = {};
	operands some[2];
	a += (ss_i64)(row + thread / PIECES_A) * k + thread % PIECES_A * PIECE;
	b += (ss_i64)(thread / PIECES_B) * n + column + thread % PIECES_B * PIECE;
#pragma unroll
	for (int s = 0; s < BUFFERS - 1; s++) {
		if (s < count)
			strips_copy(strips + s * STRIP, a, b, n, k, thread);
		a += DEPTH;
		b += (ss_i64)DEPTH * n;
		ss_copies_commit();
	}
	ss_copies_wait<BUFFERS - 2>();
	__syncthreads();
	operands_read(some[0], strips, y, x, 0, lane);
	for (int at = 0, now = 0, filled = BUFFERS - 1; at < count; at++) {
		const element *strip = strips + now * STRIP;
		now = after(now);
#pragma unroll
		for (int step = 0; step < STEPS; step++) {
			if (step == STEPS - 1) {
				ss_copies_wait<BUFFERS - 2>();
				__syncthreads();
				strip = strips + now * STRIP;
			}
			operands_read(some[(step + 1) % 2], strip, y, x, (step + 1) % STEPS, lane);
			if (step == 0) {
				if (at + BUFFERS - 1 < count)
					strips_copy(strips + filled * STRIP, a, b, n, k, thread);
				ss_copies_commit();
			}
			operands_multiply(some[step % 2], sums);
		}
		a += DEPTH;
		b += (ss_i64)DEPTH * n;
		filled = after(filled);
	}
#pragma unroll
	for (int i = 0; i < TILES_M; i++)
#pragma unroll
		for (int j = 0; j < TILES_N; j++) {
			float *const to = c + (ss_i64)(row + y + 16 * i + lane / 4) * n + column + x + 8 * j + lane % 4 * 2;
			*(float2 *)to = make_float2(sums[i][j][0], sums[i][j][1]);
			*(float2 *)(to + (ss_i64)8 * n) = make_float2(sums[i][j][2], sums[i][j][3]);
		}
}
