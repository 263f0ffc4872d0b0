/* SPDX-License-Identifier: BSD-3-Clause */
/* Like fused.cu, for objects of 4, 8 or 16 bytes: a lane reads 16 bytes at a time of the objects themselves, whole
 * objects that no other lane needs, so shared memory only holds the centres and the sums.
 *
 * A warp has COPIES tables of sums. Its lanes take turns, COPIES of them at a time, each with a table of its own: fewer
 * copies leave room for more warps, and cost more turns. The order of sums is fixed, and no operation is atomic.
 *
 * The host (single.c) mirrors the sizes of the parts of shared memory. */
#include "bracket.cuh"

enum { EACH = PACK / D /* objects in 16 bytes */ };
enum { READS = POINTS > EACH ? POINTS / EACH : 1, P = READS * EACH, TILE = 32 * P };
enum { TABLE = K * COPIES * D, TURNS = 32 / COPIES, AT_ONCE = P % 2 == 0 ? 2 : 1 };
enum { AHEAD = READS * 16 <= 64 };

struct alignas(D * sizeof(real)) row {
	real v[D];
};
struct alignas(EACH * sizeof(label)) labels {
	label v[EACH];
};

/* Memory beyond the last object is there, and 0. */
static __device__ __forceinline__ void tile_read(pack (&x)[READS], const real *objects, int lane) {
#pragma unroll
	for (int q = 0; q < READS; q++)
		x[q] = reinterpret_cast<const pack *>(objects)[q * 32 + lane];
}

struct lane_objects {
	pack x[READS];

	__device__ __forceinline__ real at(int p, int j) const {
		return x[p / EACH].v[p % EACH * D + j];
	}

	__device__ __forceinline__ real bracket(int p, const real (&centre)[CENTRE]) const {
		real sum = centre[D];
#pragma unroll
		for (int j = 0; j < D; j++)
			sum = MULADD(at(p, j), centre[j], sum);
		return sum;
	}
};

/* The objects of a lane, to the sums at `to`, in bytes. Of two the second takes over the sums of the first in the same
 * cluster. */
static __device__ __forceinline__ void lane_add(real *shared, const lane_objects &x, const int (&to)[P]) {
#pragma unroll
	for (int first = 0; first < P; first += AT_ONCE) {
		row *at[AT_ONCE], sum[AT_ONCE];
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			at[u] = reinterpret_cast<row *>(reinterpret_cast<char *>(shared) + to[first + u]);
			sum[u] = *at[u];
		}
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++) {
			const int p = first + u;
#pragma unroll
			for (int j = 0; j < D; j++) {
				if (u > 0 && to[p] == to[first])
					sum[u].v[j] = sum[0].v[j];
				sum[u].v[j] += x.at(p, j);
			}
		}
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++)
			*at[u] = sum[u];
	}
}

static __device__ __forceinline__ void sums_add(real *shared, int table, const lane_objects &x, const int (&found)[P],
                                                int lane) {
	int to[P];
#pragma unroll
	for (int p = 0; p < P; p++)
		to[p] = (table + (found[p] * COPIES + lane % COPIES) * D) * (int)sizeof(real);
	for (int turn = 0; turn < TURNS; turn++) {
		if (lane / COPIES == turn)
			lane_add(shared, x, to);
		__syncwarp();
	}
}

/* Writes the labels that changed, and returns their number. */
static __device__ __forceinline__ int labels_write(label *membership, const labels (&before)[READS], const int (&found)[P],
                                                   int lane) {
	int moved = 0;
#pragma unroll
	for (int q = 0; q < READS; q++) {
		labels now;
		int others = 0;
#pragma unroll
		for (int e = 0; e < EACH; e++) {
			now.v[e] = (label)found[q * EACH + e];
			others += before[q].v[e] != found[q * EACH + e];
		}
		if (others > 0)
			reinterpret_cast<labels *>(membership)[q * 32 + lane] = now;
		moved += others;
	}
	return moved;
}

/* Handles the last tile, in which `left` are objects; the others are taken out of the counts again. */
static __device__ __forceinline__ int rest_write(label *membership, unsigned *count, const int (&found)[P], int lane,
                                                 int left) {
	int moved = 0;
#pragma unroll
	for (int p = 0; p < P; p++) {
		const int at = (p / EACH * 32 + lane) * EACH + p % EACH;
		if (at >= left) {
			atomicSub(&count[found[p]], 1u);
		} else if (membership[at] != found[p]) {
			membership[at] = (label)found[p];
			moved++;
		}
	}
	return moved;
}

extern "C" __global__ void assign(const real *objects, const real *centres, label *membership, ss_u64 *changed, ss_i64 n,
                                  double *sums, unsigned *counts) {
	SS_DYNAMIC(real, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	real *const tables = shared + GROUPS * APART;
	unsigned *const count = reinterpret_cast<unsigned *>(tables + warps * TABLE);
	const ss_i64 step = (ss_i64)gridDim.x * warps * TILE;
	ss_i64 first = ((ss_i64)blockIdx.x * warps + warp) * TILE;
	pack ahead[READS];
	int moved = 0;
	if (AHEAD && first < n)
		tile_read(ahead, objects + first * D, lane);
	centres_stage(shared, centres);
	for (int e = (int)threadIdx.x; e < warps * TABLE; e += (int)blockDim.x)
		tables[e] = 0;
	counts_clear(count);
	__syncthreads();
	for (; first < n; first += step) {
		const int left = (int)min(n - first, (ss_i64)TILE);
		labels before[READS];
		lane_objects x;
		int found[P];
#pragma unroll
		for (int q = 0; q < READS; q++)
			if (left == TILE)
				before[q] = reinterpret_cast<const labels *>(membership + first)[q * 32 + lane];
		if (!AHEAD)
			tile_read(ahead, objects + first * D, lane);
#pragma unroll
		for (int q = 0; q < READS; q++)
			x.x[q] = ahead[q];
		if (AHEAD && first + step < n)
			tile_read(ahead, objects + (first + step) * D, lane);
		search<GROUP == 0 ? 8 : 1>(found, x, shared);
#pragma unroll
		for (int p = 0; p < P; p++)
			atomicAdd(&count[found[p]], 1u);
		if (left == TILE)
			moved += labels_write(membership + first, before, found, lane);
		else
			moved += rest_write(membership + first, count, found, lane, left);
		sums_add(shared, GROUPS * APART + warp * TABLE, x, found, lane);
	}
	changed_add(changed, moved, lane);
	__syncthreads();
	block_write<TABLE, COPIES, 4>(sums, counts, tables, count, [](int e, int copy) {
		return (e / D * COPIES + (copy + e) % COPIES) * D + e % D;
	});
}
