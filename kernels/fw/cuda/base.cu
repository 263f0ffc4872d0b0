/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked Floyd-Warshall without any optimisation, as the first version of a lab report: a thread for each distance of a tile
 * of 32 x 32, and every operand of every step comes from global memory. It is here to be compared with factor.cu. The
 * arguments are those of register.cu; the transposed tiles are not used. */
#include "sweetspot.cuh"

#if LANES == 2
typedef ss_i16 cell;
#else
typedef int cell;
#endif

enum { EDGE = 32 };

static __device__ __forceinline__ cell *tile_at(int *words, ss_i64 i, ss_i64 j, ss_i64 pitch) {
	return (cell *)words + i * EDGE * pitch * LANES + j * EDGE;
}

static __device__ __forceinline__ const cell *tile_at(const int *words, ss_i64 i, ss_i64 j, ss_i64 pitch) {
	return (const cell *)words + i * EDGE * pitch * LANES + j * EDGE;
}

/* Through one vertex after the other; c may be a or b. What a step reads of others it leaves alone, as no distance to itself is
 * below 0. */
static __device__ __forceinline__ void tile_relax(cell *c, const cell *a, const cell *b, ss_i64 pitch) {
	const ss_i64 y = threadIdx.y * pitch * LANES, x = threadIdx.x;
	for (int k = 0; k < EDGE; k++) {
		__syncthreads();
		const int through = a[y + k] + b[k * pitch * LANES + x];
		if (through < c[y + x])
			c[y + x] = (cell)through;
	}
}

/* The first phase. */
extern "C" __global__ void __launch_bounds__(1024) fw_close(int *tile, int pitch, int *across, int across_pitch) {
	cell *const c = tile_at(tile, 0, 0, pitch);
	tile_relax(c, c, c, pitch);
}

/* The second phase: first the tiles of row k, then those of column k. */
extern "C" __global__ void __launch_bounds__(1024)
fw_panels(int *matrix, int *rows, int pitch, int *across, int across_pitch, int k, int k_here, int row_blocks,
          int column_cut) {
	int i = (int)blockIdx.x;
	const bool row = i < row_blocks;
	if (!row)
		i -= row_blocks;
	i += i >= (row ? k : column_cut);
	cell *const c = row ? tile_at(rows, 0, i, pitch) : tile_at(matrix, i, k, pitch);
	const cell *const d = tile_at(rows, 0, k, pitch);
	if (row)
		tile_relax(c, d, c, pitch);
	else
		tile_relax(c, c, d, pitch);
}

/* The third phase, or a part of it. */
extern "C" __global__ void __launch_bounds__(1024)
fw_relax(int *matrix, const int *rows, int pitch, const int *across, int across_pitch, int k, int column_first,
         int column_cut, int column_skip, int row_first, int row_cut, int row_skip) {
	int row = row_first + (int)blockIdx.y, column = column_first + (int)blockIdx.x;
	row += row >= row_cut ? row_skip : 0;
	column += column >= column_cut ? column_skip : 0;
	tile_relax(tile_at(matrix, row, column, pitch), tile_at(matrix, row, k, pitch), tile_at(rows, 0, column, pitch),
	           pitch);
}
