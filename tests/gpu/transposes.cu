// SPDX-License-Identifier: GPL-3.0-or-later
// A matrix of n x n floats transposed by tiles of 32 x 32 in shared memory, n a multiple of 32, blocks of 32 x 8. The two
// kernels differ only in the width of the tile's rows: with 32 a warp that reads a column meets one bank 32 times, with 33
// it meets each bank once.
enum { TILE = 32, ROWS = 8 };

template <int WIDTH>
static __device__ void transpose(float *out, const float *in, int n) {
	__shared__ float tile[TILE][WIDTH];
	const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
	for (int row = threadIdx.y; row < TILE; row += ROWS)
		tile[row][threadIdx.x] = in[(size_t)(top + row) * n + left + threadIdx.x];
	__syncthreads();
	for (int row = threadIdx.y; row < TILE; row += ROWS)
		out[(size_t)(left + row) * n + top + threadIdx.x] = tile[threadIdx.x][row];
}

extern "C" __global__ void transpose_plain(float *out, const float *in, int n) {
	transpose<TILE>(out, in, n);
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int n) {
	transpose<TILE + 1>(out, in, n);
}
