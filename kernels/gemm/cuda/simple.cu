/* SPDX-License-Identifier: BSD-3-Clause */
/* An element of C and a thread each, with operands from memory, or through tiles in shared memory (CUDA C++ Programming
 * Guide, "Shared Memory"). Sizes are those of the padded matrices. -D: TILE (edge of the tiles and of the block; 0: no
 * tiles), TYPE (of A and B; 0: f32, otherwise as in ss_float). */
#include "sweetspot.cuh"

#if TYPE
#if TYPE == 4
typedef ss_u8 element;
#else
typedef unsigned short element;
#endif
static __device__ __forceinline__ float number(element x) {
	return ss_float<TYPE>(x);
}
#else
typedef float element;
static __device__ __forceinline__ float number(element x) {
	return x;
}
#endif

#if TILE
extern "C" __global__ void gemm_shared(const element *a, const element *b, float *c, int n, int k) {
	__shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
	const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
	float sum = 0;
	for (int p = 0; p < k; p += TILE) {
		tile_a[y][x] = number(a[(ss_i64)row * k + p + x]);
		tile_b[y][x] = number(b[(ss_i64)(p + y) * n + column]);
		__syncthreads();
#pragma unroll
		for (int i = 0; i < TILE; i++)
			sum += tile_a[y][i] * tile_b[i][x];
		__syncthreads();
	}
	c[(ss_i64)row * n + column] = sum;
}
#else
extern "C" __global__ void gemm_simple(const element *a, const element *b, float *c, int n, int k) {
	const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0;
	for (int p = 0; p < k; p++)
		sum += number(a[(ss_i64)row * k + p]) * number(b[(ss_i64)p * n + column]);
	c[(ss_i64)row * n + column] = sum;
}
#endif
