/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the objects in each loop: a warp assigns a tile of 32 * POINTS objects and adds them up at once.
 *
 * Sums need no atomic operations: LANES lanes take an object, a coordinate each, so 32 / LANES objects go at a time,
 * and each lane has a table of its own, CLUSTERS x CHUNKS numbers, all of them in its own bank. Blocks stay on their
 * SM, write their sums once, and means.cu adds them up.
 *
 * The host (single.c) mirrors the sizes of the parts of shared memory. */
#include "bracket.cuh"

enum { P = POINTS, TILE = 32 * P };
enum { LANES = D > 16 ? 32 : D > 8 ? 16 : D > 4 ? 8 : D > 2 ? 4 : D, CHUNKS = (D + LANES - 1) / LANES };
enum { TABLE = K * CHUNKS * 32, ROW_BYTES = D * sizeof(real), WIDE = ROW_BYTES % 16 == 0 };
/* Rows of an odd number of 16 bytes: 8 lanes read 16 bytes each from different banks. */
enum { ROW = WIDE && ROW_BYTES / 16 % 2 == 0 ? D + PACK : D };
enum { AT_ONCE = LANES % 2 == 0 ? 2 : 1, UNROLL = D >= 16 ? 2 : D >= 4 ? 4 : 8 };

/* Memory beyond the last object is there, and 0. */
static __device__ __forceinline__ void tile_fetch(real *shared, const real *objects, int lane) {
	char *const to = reinterpret_cast<char *>(shared);
	const char *const from = reinterpret_cast<const char *>(objects);
#pragma unroll
	for (int q = lane; q < TILE * ROW_BYTES / 16; q += 32) {
		const int row = WIDE ? q / (ROW_BYTES / 16) : 0;
		ss_copy16(to + q * 16 + row * (ROW - D) * (int)sizeof(real), from + q * 16);
	}
	ss_copies_commit();
}

static __device__ __forceinline__ void row_read(real (&x)[D], const real *row) {
	if (WIDE) {
#pragma unroll
		for (int j = 0; j < D; j += PACK) {
			const pack some = *reinterpret_cast<const pack *>(row + j);
#pragma unroll
			for (int v = 0; v < PACK; v++)
				x[(j + v) % D] = some.v[v];
		}
	} else {
#pragma unroll
		for (int j = 0; j < D; j++)
			x[j] = row[j];
	}
}

struct lane_objects {
	real x[P][D];

	__device__ __forceinline__ real bracket(int p, const real (&centre)[CENTRE]) const {
		real sum = centre[D];
#pragma unroll
		for (int j = 0; j < D; j++)
			sum = MULADD(x[p][j], centre[j], sum);
		return sum;
	}
};

static __device__ __forceinline__ void nearest(int (&found)[P], const real *tile, const real *centres, int lane) {
	lane_objects some;
#pragma unroll
	for (int p = 0; p < P; p++)
		row_read(some.x[p], tile + (p * 32 + lane) * ROW);
	search<UNROLL>(found, some, centres);
}

/* 32 objects. Of AT_ONCE that go together, the later ones take over the sums of the earlier in the same cluster. */
static __device__ __forceinline__ void sums_add(real *table, const real *rows, int found, int lane) {
	const int own = lane % LANES;
#pragma unroll
	for (int step = 0; step < LANES; step += AT_ONCE) {
		int c[AT_ONCE];
		const real *x[AT_ONCE];
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			const int row = (step + u) * (32 / LANES) + lane / LANES;
			c[u] = __shfl_sync(0xffffffffu, found, row);
			x[u] = rows + row * ROW + own;
		}
#pragma unroll
		for (int chunk = 0; chunk < CHUNKS; chunk++) {
			if (D % LANES != 0 && chunk * LANES + own >= D)
				continue;
			real sum[AT_ONCE];
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				sum[u] = table[(c[u] * CHUNKS + chunk) * 32 + lane];
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++) {
				if (u > 0 && c[u] == c[0])
					sum[u] = sum[0];
				sum[u] += x[u][chunk * LANES];
			}
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				table[(c[u] * CHUNKS + chunk) * 32 + lane] = sum[u];
		}
	}
}

extern "C" __global__ void assign(const real *objects, const real *centres, label *membership, ss_u64 *changed, ss_i64 n,
                                  double *sums, unsigned *counts) {
	SS_DYNAMIC(real, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	real *const tables = shared + GROUPS * APART, *const table = tables + warp * TABLE;
	real *const tiles = tables + warps * TABLE + warp * 2 * TILE * ROW;
	unsigned *const count = reinterpret_cast<unsigned *>(tables + warps * (TABLE + 2 * TILE * ROW));
	const ss_i64 step = (ss_i64)gridDim.x * warps * TILE;
	ss_i64 first = ((ss_i64)blockIdx.x * warps + warp) * TILE;
	int stage = 0, moved = 0;
	if (first < n)
		tile_fetch(tiles, objects + first * D, lane);
	centres_stage(shared, centres);
	for (int e = lane; e < TABLE; e += 32)
		table[e] = 0;
	counts_clear(count);
	__syncthreads();
	for (; first < n; first += step, stage ^= 1) {
		const real *const tile = tiles + stage * (TILE * ROW);
		const int left = (int)min(n - first, (ss_i64)TILE);
		label *const labels = membership + first;
		label before[P];
		int found[P];
#pragma unroll
		for (int p = 0; p < P; p++)
			before[p] = p * 32 + lane < left ? labels[p * 32 + lane] : (label)0;
		if (first + step < n)
			tile_fetch(tiles + (stage ^ 1) * (TILE * ROW), objects + (first + step) * D, lane);
		else
			ss_copies_commit();
		ss_copies_wait<1>();
		__syncwarp();
		nearest(found, tile, shared, lane);
#pragma unroll
		for (int p = 0; p < P; p++) {
			if (p * 32 + lane < left) {
				atomicAdd(&count[found[p]], 1u);
				if (before[p] != found[p]) {
					labels[p * 32 + lane] = (label)found[p];
					moved++;
				}
			}
			sums_add(table, tile + p * 32 * ROW, found[p], lane);
		}
		__syncwarp();
	}
	changed_add(changed, moved, lane);
	__syncthreads();
	block_write<TABLE, 32 / LANES, 32 / LANES>(sums, counts, tables, count, [](int e, int copy) {
		return (e / D * CHUNKS + e % D / LANES) * 32 + copy * LANES + e % D % LANES;
	});
}
