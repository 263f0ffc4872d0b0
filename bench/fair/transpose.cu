// SPDX-License-Identifier: GPL-3.0-or-later
// A matrix of n x n floats transposed in tiles of tile x tile elements; a block has tile / vector x rows threads.
template <int W> struct __align__(4 * W) floats {
	float at[W];
};
typedef floats<vector> part;
enum { n = 8192, across = tile / vector };

extern "C" __global__ void __launch_bounds__(across *block_size_y) transpose(float *out, const float *in) {
#if diagonal
	const int bx = (blockIdx.x + blockIdx.y) % gridDim.x, by = blockIdx.x;
#else
	const int bx = blockIdx.x, by = blockIdx.y;
#endif
	const int x = threadIdx.x * vector;
	__shared__ float staged[tile][tile + padding];
#pragma unroll
	for (int y = threadIdx.y; y < tile; y += block_size_y) {
		const part from = *(const part *)&in[(by * tile + y) * n + bx * tile + x];
#pragma unroll
		for (int w = 0; w < vector; w++)
			staged[y][x + w] = from.at[w];
	}
	__syncthreads();
#pragma unroll
	for (int y = threadIdx.y; y < tile; y += block_size_y) {
		part to;
#pragma unroll
		for (int w = 0; w < vector; w++)
			to.at[w] = staged[x + w][y];
		*(part *)&out[(bx * tile + y) * n + by * tile + x] = to;
	}
}
