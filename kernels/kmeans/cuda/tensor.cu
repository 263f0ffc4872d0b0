/* SPDX-License-Identifier: BSD-3-Clause */
/* Like fused.cu, for doubles: the brackets |c|^2 / 2 - xc of a tile of 32 objects come from the tensor cores, 8
 * clusters at a time. In a step lane 4g + t gives coordinates t of object g and of cluster g. Which coordinates of the
 * row those are does not matter as long as both agree, so pairs are used, which can be read as 16 bytes. The next tile
 * is loaded into registers meanwhile.
 *
 * The host (single.c) mirrors the sizes of the parts of shared memory. */
#include "bracket.cuh"

enum { TILE = 32, PANELS = (K + 7) / 8, AHEAD = D <= 32 };
enum { STEPS = D % 16 == 0 ? 4 : 2, DEPTH = 4 * STEPS }; /* of an instruction; coordinates */
/* The padding puts neighbouring rows into different banks: 4 of objects for 8 bytes a lane, 2 of clusters for 16. */
enum { ROW = D + 4, CENTRE = D + (D % 16 == 0 ? 2 : 0) };
enum { LANES = D > 16 ? 32 : D > 8 ? 16 : 8, CHUNKS = (D + LANES - 1) / LANES, TABLE = K * CHUNKS * 32 };
enum { AT_ONCE = 2, BOTH = 2 /* halves of a tile */ };

/* Clusters that only fill up the last panel are far away. */
static __device__ void centres_stage(double *shared, double *halves, const double *centres) {
	for (int c = (int)threadIdx.x; c < PANELS * 8; c += (int)blockDim.x) {
		double square = 0;
		for (int j = 0; j < D; j++) {
			const double x = c < K ? centres[c * D + j] : 0;
			shared[c * CENTRE + j / DEPTH * DEPTH + j % 4 * STEPS + j % DEPTH / 4] = -x;
			square = fma(x, x, square);
		}
		halves[c] = c < K ? square * 0.5 : 1e30;
	}
}

static __device__ __forceinline__ void tile_load(double2 (&some)[D / 2], const double *objects, int lane) {
#pragma unroll
	for (int q = 0; q < D / 2; q++)
		some[q] = reinterpret_cast<const double2 *>(objects)[q * 32 + lane];
}

static __device__ __forceinline__ void tile_store(double *tile, const double2 (&some)[D / 2], int lane) {
#pragma unroll
	for (int q = 0; q < D / 2; q++) {
		const int at = q * 32 + lane;
		*reinterpret_cast<double2 *>(tile + at / (D / 2) * ROW + at % (D / 2) * 2) = some[q];
	}
}

/* Operands of this lane: rows g and g + 8, or cluster g. */
static __device__ __forceinline__ void objects_read(double (&a)[D / DEPTH][2 * STEPS], const double *rows, int lane) {
#pragma unroll
	for (int s = 0; s < D / DEPTH; s++)
#pragma unroll
		for (int v = 0; v < 2 * STEPS; v++)
			a[s][v] = rows[(lane / 4 + v % 2 * 8) * ROW + s * DEPTH + v / 2 * 4 + lane % 4];
}

static __device__ __forceinline__ void centres_read(double (&b)[STEPS], const double *panel, int s, int lane) {
#pragma unroll
	for (int p = 0; p < STEPS; p += 2) {
		const double2 some =
			*reinterpret_cast<const double2 *>(panel + lane / 4 * CENTRE + s * DEPTH + lane % 4 * STEPS + p);
		b[p] = some.x;
		b[p + 1] = some.y;
	}
}

static __device__ __forceinline__ void quad_best(best &b) {
#pragma unroll
	for (int apart = 1; apart < 4; apart *= 2) {
		const double least = __shfl_xor_sync(0xffffffffu, b.least, apart);
		const int cluster = __shfl_xor_sync(0xffffffffu, b.cluster, apart);
		if (least < b.least || (least == b.least && cluster < b.cluster)) {
			b.least = least;
			b.cluster = cluster;
		}
	}
}

/* The cluster of object `lane` of the tile. */
static __device__ __forceinline__ int nearest(const double *tile, const double *centres, const double *halves, int lane) {
	double a[BOTH][D / DEPTH][2 * STEPS];
	best b[BOTH][2];
#pragma unroll
	for (int half = 0; half < BOTH; half++) {
		objects_read(a[half], tile + half * 16 * ROW, lane);
		b[half][0] = b[half][1] = {1e30, 0};
	}
#pragma unroll 2
	for (int panel = 0; panel < PANELS; panel++) {
		const double2 start = *reinterpret_cast<const double2 *>(halves + panel * 8 + lane % 4 * 2);
		double d[BOTH][4];
#pragma unroll
		for (int half = 0; half < BOTH; half++) {
			d[half][0] = d[half][2] = start.x;
			d[half][1] = d[half][3] = start.y;
		}
#pragma unroll
		for (int s = 0; s < D / DEPTH; s++) {
			double some[STEPS];
			centres_read(some, centres + panel * 8 * CENTRE, s, lane);
#pragma unroll
			for (int half = 0; half < BOTH; half++)
				ss_mma_f64<STEPS>(d[half], a[half][s], some);
		}
#pragma unroll
		for (int half = 0; half < BOTH; half++)
#pragma unroll
			for (int v = 0; v < 4; v++)
				best_keep(&b[half][v / 2], d[half][v], panel * 8 + lane % 4 * 2 + v % 2);
	}
	int found = 0;
#pragma unroll
	for (int eight = 0; eight < 4; eight++) {
		quad_best(b[eight / 2][eight % 2]);
		const int there = __shfl_sync(0xffffffffu, b[eight / 2][eight % 2].cluster, lane % 8 * 4);
		found = lane / 8 == eight ? there : found;
	}
	return found;
}

static __device__ __forceinline__ void sums_add(double *table, const double *rows, int found, int lane) {
	const int own = lane % LANES;
#pragma unroll 4
	for (int step = 0; step < LANES; step += AT_ONCE) {
		int c[AT_ONCE];
		const double *x[AT_ONCE];
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
			double *const first = table + (c[0] * CHUNKS + chunk) * 32 + lane;
			double *const second = table + (c[1] * CHUNKS + chunk) * 32 + lane;
			double sum = *first, more = *second;
			sum += x[0][chunk * LANES];
			more = (c[1] == c[0] ? sum : more) + x[1][chunk * LANES];
			*first = sum;
			*second = more;
		}
	}
}

extern "C" __global__ void assign(const double *objects, const double *centres, label *membership, ss_u64 *changed,
                                  ss_i64 n, double *sums, unsigned *counts) {
	SS_DYNAMIC(double, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	double *const halves = shared + PANELS * 8 * CENTRE, *const tables = halves + PANELS * 8;
	double *const table = tables + warp * TABLE, *const tile = tables + warps * TABLE + warp * TILE * ROW;
	unsigned *const count = reinterpret_cast<unsigned *>(tables + warps * (TABLE + TILE * ROW));
	const ss_i64 step = (ss_i64)gridDim.x * warps * TILE;
	ss_i64 first = ((ss_i64)blockIdx.x * warps + warp) * TILE;
	double2 ahead[D / 2];
	int moved = 0;
	if (AHEAD && first < n)
		tile_load(ahead, objects + first * D, lane);
	centres_stage(shared, halves, centres);
	for (int e = lane; e < TABLE; e += 32)
		table[e] = 0;
	counts_clear(count);
	__syncthreads();
	for (; first < n; first += step) {
		const ss_i64 i = first + lane;
		if (!AHEAD)
			tile_load(ahead, objects + first * D, lane);
		tile_store(tile, ahead, lane);
		__syncwarp();
		if (AHEAD && first + step < n)
			tile_load(ahead, objects + (first + step) * D, lane);
		const label before = i < n ? membership[i] : (label)0;
		const int found = nearest(tile, shared, halves, lane);
		if (i < n) {
			atomicAdd(&count[found], 1u);
			if (before != found) {
				membership[i] = (label)found;
				moved++;
			}
		}
		sums_add(table, tile, found, lane);
		__syncwarp();
	}
	changed_add(changed, moved, lane);
	__syncthreads();
	block_write<TABLE, 32 / LANES, 32 / LANES>(sums, counts, tables, count, [](int e, int copy) {
		return (e / D * CHUNKS + e % D / LANES) * 32 + copy * LANES + e % D % LANES;
	});
}
