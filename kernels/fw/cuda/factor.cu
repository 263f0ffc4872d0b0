/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked Floyd-Warshall as in the lab reports, with a factor of 32 or 64: a block of 32 x 32 threads updates a tile
 * in shared memory, FACTOR / 32 by FACTOR / 32 distances a thread. Katz and Kider, "All-pairs shortest-paths for
 * large graphs on the GPU", 2008. The arguments are those of register.cu; the transposed tiles are not used here. */
#include "sweetspot.cuh"

#if LANES == 2
typedef ss_i16 cell;
#else
typedef int cell;
#endif

#define EACH (FACTOR / 32)
#define MINE(y, x, i, j)                                                                                               \
	for (int i = 0, y = (int)threadIdx.y; i < EACH; i++, y += 32)                                                      \
		for (int j = 0, x = (int)threadIdx.x; j < EACH; j++, x += 32)

static __device__ __forceinline__ cell *tile_at(int *words, ss_i64 i, ss_i64 j, ss_i64 pitch) {
	return (cell *)words + i * FACTOR * pitch * LANES + j * FACTOR;
}

static __device__ __forceinline__ const cell *tile_at(const int *words, ss_i64 i, ss_i64 j, ss_i64 pitch) {
	return (const cell *)words + i * FACTOR * pitch * LANES + j * FACTOR;
}

static __device__ __forceinline__ void tile_get(cell (*to)[FACTOR], const cell *from, int pitch) {
	MINE(y, x, i, j)
		to[y][x] = from[y * pitch * LANES + x];
}

static __device__ __forceinline__ void tile_put(cell *to, cell (*from)[FACTOR], int pitch) {
	MINE(y, x, i, j)
		to[y * pitch * LANES + x] = from[y][x];
}

/* c, which may be a or b, through one vertex after the other. What a step reads of others it leaves alone, as no distance to
 * itself is below 0. */
static __device__ __forceinline__ void tile_relax(cell (*c)[FACTOR], cell (*a)[FACTOR], cell (*b)[FACTOR]) {
	for (int k = 0; k < FACTOR; k++) {
		__syncthreads();
		MINE(y, x, i, j) {
			const int through = a[y][k] + b[k][x];
			if (through < c[y][x])
				c[y][x] = (cell)through;
		}
	}
}

/* The first phase. */
extern "C" __global__ void __launch_bounds__(1024) fw_close(int *tile, int pitch, int *across, int across_pitch) {
	__shared__ cell c[FACTOR][FACTOR];
	cell *const at = tile_at(tile, 0, 0, pitch);
	tile_get(c, at, pitch);
	tile_relax(c, c, c);
	tile_put(at, c, pitch);
}

/* The second phase: first the tiles of row k, then those of column k. */
extern "C" __global__ void __launch_bounds__(1024)
fw_panels(int *matrix, int *rows, int pitch, int *across, int across_pitch, int k, int k_here, int row_blocks,
          int column_cut) {
	__shared__ cell c[FACTOR][FACTOR];
	__shared__ cell d[FACTOR][FACTOR];
	int i = (int)blockIdx.x;
	const bool row = i < row_blocks;
	if (!row)
		i -= row_blocks;
	i += i >= (row ? k : column_cut);
	cell *const at = row ? tile_at(rows, 0, i, pitch) : tile_at(matrix, i, k, pitch);
	tile_get(c, at, pitch);
	tile_get(d, tile_at(rows, 0, k, pitch), pitch);
	if (row)
		tile_relax(c, d, c);
	else
		tile_relax(c, c, d);
	tile_put(at, c, pitch);
}

/* The third phase, or a part of it: the distances are in registers, and need no barrier between steps. */
extern "C" __global__ void __launch_bounds__(1024)
fw_relax(int *matrix, const int *rows, int pitch, const int *across, int across_pitch, int k, int column_first,
         int column_cut, int column_skip, int row_first, int row_cut, int row_skip) {
	__shared__ cell a[FACTOR][FACTOR];
	__shared__ cell b[FACTOR][FACTOR];
	int row = row_first + (int)blockIdx.y, column = column_first + (int)blockIdx.x, c[EACH][EACH];
	row += row >= row_cut ? row_skip : 0;
	column += column >= column_cut ? column_skip : 0;
	cell *const at = tile_at(matrix, row, column, pitch);
	tile_get(a, tile_at(matrix, row, k, pitch), pitch);
	tile_get(b, tile_at(rows, 0, column, pitch), pitch);
	MINE(y, x, i, j)
		c[i][j] = at[y * pitch * LANES + x];
	__syncthreads();
	for (int m = 0; m < FACTOR; m++)
		MINE(y, x, i, j)
			c[i][j] = ss_addmin(a[y][m], b[m][x], c[i][j]);
	MINE(y, x, i, j)
		at[y * pitch * LANES + x] = (cell)c[i][j];
}
