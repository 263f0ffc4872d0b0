/* SPDX-License-Identifier: BSD-3-Clause */
/* A byte and a thread for each cell. A dead cell is before and after each row, a dead row before the first and after
 * the last, so that threads need not check for the border. -D: SHARED (the block's cells and those around them are
 * read once). */
#include "sweetspot.cuh"

static __device__ __forceinline__ int line(const ss_u8 *at) {
	return at[-1] + at[0] + at[1];
}

/* 3 neighbours, or 2 and alive: exactly then neighbours | alive is 3. */
static __device__ __forceinline__ ss_u8 next(const ss_u8 *at, ss_i64 stride) {
	const int alive = at[0], neighbours = line(at - stride) + line(at) + line(at + stride) - alive;
	return (neighbours | alive) == 3;
}

extern "C" __global__ void gol_byte(const ss_u8 *from, ss_u8 *to, ss_i64 stride, int n) {
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
#if SHARED
	SS_DYNAMIC(ss_u8, tile);
	const int width = blockDim.x + 2, height = blockDim.y + 2, threads = blockDim.x * blockDim.y;
	for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < width * height; i += threads) {
		const int column = (int)(blockIdx.x * blockDim.x) + i % width - 1;
		const int row = (int)(blockIdx.y * blockDim.y) + i / width - 1;
		tile[i] = column <= n && row <= n ? from[row * stride + column] : 0;
	}
	__syncthreads();
	if (x < n && y < n)
		to[y * stride + x] = next(tile + (threadIdx.y + 1) * width + threadIdx.x + 1, width);
#else
	if (x < n && y < n)
		to[y * stride + x] = next(from + y * stride + x, stride);
#endif
}

/* Converts from and to rows of 32 cells a word; a warp a word. Rows are in x, which has more blocks than y. */
extern "C" __global__ void gol_unpack(const unsigned *from, ss_i64 words, ss_u8 *to, ss_i64 stride, int n) {
	const int x = blockIdx.y * blockDim.x + threadIdx.x, y = blockIdx.x;
	if (x < n)
		to[y * stride + x] = from[y * words + x / 32] >> x % 32 & 1;
}

extern "C" __global__ void gol_pack(const ss_u8 *from, ss_i64 stride, unsigned *to, ss_i64 words, int n) {
	const int x = blockIdx.y * blockDim.x + threadIdx.x, y = blockIdx.x;
	const unsigned word = __ballot_sync(0xffffffffu, x < n && from[y * stride + x]);
	if (x % 32 == 0 && x < n)
		to[y * words + x / 32] = word;
}
