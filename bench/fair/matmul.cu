// SPDX-License-Identifier: GPL-3.0-or-later
// C = A B of n x n floats by rows, in square tiles of shared memory: a thread computes tile_size_x * tile_size_y elements,
// block_size_x and block_size_y apart.
enum { n = 4096, wide = block_size_x * tile_size_x, high = block_size_y * tile_size_y, deep = block_size_x };

extern "C" __global__ void __launch_bounds__(block_size_x *block_size_y) matmul(float *C, const float *A, const float *B) {
	__shared__ float as[high][deep], bs[deep][wide];
	const int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * wide + x, top = blockIdx.y * high + y;
	float sums[tile_size_y][tile_size_x] = {{0}};
	for (int k = 0; k < n; k += deep) {
#pragma unroll
		for (int i = 0; i < tile_size_y; i++) {
			as[y + i * block_size_y][x] = A[(top + i * block_size_y) * n + k + x];
#pragma unroll
			for (int j = 0; j < tile_size_x; j++)
				bs[y + i * block_size_y][x + j * block_size_x] =
					B[(k + y + i * block_size_y) * n + left + j * block_size_x];
		}
		__syncthreads();
#pragma unroll
		for (int l = 0; l < deep; l++)
#pragma unroll
			for (int i = 0; i < tile_size_y; i++)
#pragma unroll
				for (int j = 0; j < tile_size_x; j++)
					sums[i][j] += as[y + i * block_size_y][l] * bs[l][x + j * block_size_x];
		__syncthreads();
	}
#pragma unroll
	for (int i = 0; i < tile_size_y; i++)
#pragma unroll
		for (int j = 0; j < tile_size_x; j++)
			C[(top + i * block_size_y) * n + left + j * block_size_x] = sums[i][j];
}
