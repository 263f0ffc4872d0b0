/* SPDX-License-Identifier: BSD-3-Clause */
/* As fused.cu, for objects of 4, 8 or 16 bytes: a lane reads 16 bytes at a time of the objects themselves, whole objects
 * that no other lane needs, and so shared memory has the centres and the sums alone.
 *
 * A warp has COPIES tables of sums. Its lanes take turns, COPIES of them at a time, each with a table of its own: fewer
 * copies leave room for more warps, and cost more turns. The order of sums is fixed, and no operation is atomic.
 *
 * With GROUP clusters in a group a lane first finds the group with the nearest centre: one comparison of a cluster and a
 * few of a group, as the pipe for comparisons has half the rate of that for products of floats. For floats they compare
 * the brackets themselves, for doubles their upper halves (see fused.cu, also for what follows a tie).
 *
 * The host (fast.c) mirrors what the parts of shared memory measure. */
#include "sweetspot.cuh"
#if TYPE == 32
typedef float real;
#define MULADD fmaf
#else
typedef double real;
#define MULADD fma
#endif
#if CLUSTERS < 256
typedef unsigned char label;
#else
typedef unsigned short label;
#endif

enum { D = COORDS, K = CLUSTERS, PACK = 16 / sizeof(real), EACH = PACK / D /* objects in 16 bytes */ };
enum { READS = POINTS > EACH ? POINTS / EACH : 1, P = READS * EACH, TILE = 32 * P };
enum { CENTRE = (D + PACK) / PACK * PACK }; /* |c|^2 / 2 comes last */
enum { FILLED = GROUP > 0 ? (K + GROUP - 1) / GROUP * GROUP : K, MEMBERS = GROUP > 0 ? GROUP : FILLED };
enum { GROUPS = FILLED / MEMBERS, APART = MEMBERS * CENTRE + (GROUP > 0 ? PACK : 0) };
enum { TABLE = K * COPIES * D, TURNS = 32 / COPIES, AT_ONCE = P % 2 == 0 ? 2 : 1 };
enum { AHEAD = READS * 16 <= 64, GROUPS_AT_ONCE = 2 };

struct alignas(16) pack {
	real v[PACK];
};
struct alignas(D * sizeof(real)) row {
	real v[D];
};
struct alignas(EACH * sizeof(label)) labels {
	label v[EACH];
};

/* With the sign and the half of the bracket, computed as the host does it (single.c). Clusters that only fill up the last
 * group are far away. */
static __device__ void centres_stage(real *shared, const real *centres) {
	for (int c = (int)threadIdx.x; c < FILLED; c += (int)blockDim.x) {
		real *const to = shared + c / MEMBERS * APART + c % MEMBERS * CENTRE;
		double square = 0;
		for (int j = 0; j < D; j++) {
			const double x = c < K ? centres[c * D + j] : (real)0;
			to[j] = (real)-x;
			square = fma(x, x, square);
		}
		to[D] = c < K ? (real)(square * 0.5) : (real)1e29f;
	}
}

/* Memory beyond the last object is there, and 0. */
static __device__ __forceinline__ void tile_read(pack (&x)[READS], const real *objects, int lane) {
#pragma unroll
	for (int q = 0; q < READS; q++)
		x[q] = reinterpret_cast<const pack *>(objects)[q * 32 + lane];
}

static __device__ __forceinline__ real bracket(const pack (&x)[READS], int p, const real *centre) {
	real sum = centre[D];
#pragma unroll
	for (int j = 0; j < D; j++)
		sum = MULADD(x[p / EACH].v[p % EACH * D + j], centre[j], sum);
	return sum;
}

static __device__ __forceinline__ void centre_read(real (&centre)[CENTRE], const real *from) {
#pragma unroll
	for (int j = 0; j < CENTRE; j += PACK) {
		const pack some = *reinterpret_cast<const pack *>(from + j);
#pragma unroll
		for (int v = 0; v < PACK; v++)
			centre[j + v] = some.v[v];
	}
}

/* Every cluster; of equals the first. */
template <int UNROLL>
static __device__ __forceinline__ void search_all(int (&found)[P], const pack (&x)[READS], const real *centres) {
	real least[P];
#pragma unroll
	for (int p = 0; p < P; p++) {
		least[p] = (real)1e30f;
		found[p] = 0;
	}
	for (int group = 0; group < GROUPS; group++)
#pragma unroll UNROLL
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, centres + group * APART + m * CENTRE);
#pragma unroll
			for (int p = 0; p < P; p++) {
				const real value = bracket(x, p, centre);
				if (value < least[p]) {
					least[p] = value;
					found[p] = group * MEMBERS + m;
				}
			}
		}
}

#if GROUP > 0
/* In the order of the numbers, for doubles but for ties. */
static __device__ __forceinline__ float key(real x) {
#if TYPE == 32
	return x;
#else
	return __int_as_float(__double2hiint(x));
#endif
}

/* Of each object the group, and its least key; whether upper halves tied. */
static __device__ __forceinline__ bool groups_compare(int (&found)[P], float (&least)[P], const pack (&x)[READS],
                                                      const real *centres) {
	bool tie = false;
#pragma unroll
	for (int p = 0; p < P; p++) {
		least[p] = 3e38f;
		found[p] = 0;
	}
#pragma unroll GROUPS_AT_ONCE
	for (int group = 0; group < GROUPS; group++) {
		float own[P];
#pragma unroll
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, centres + group * APART + m * CENTRE);
#pragma unroll
			for (int p = 0; p < P; p++) {
				const float value = key(bracket(x, p, centre));
				own[p] = m == 0 ? value : fminf(own[p], value);
			}
		}
#pragma unroll
		for (int p = 0; p < P; p++) {
			if (TYPE == 64)
				tie |= own[p] == least[p];
			found[p] = own[p] < least[p] ? group : found[p];
			least[p] = fminf(own[p], least[p]);
		}
	}
	return tie;
}

#if TYPE == 32
/* The first member with the group's least bracket, which comes out the same again. */
static __device__ __forceinline__ int member(const pack (&x)[READS], int p, const real *rows, float least) {
	int found = MEMBERS - 1;
#pragma unroll
	for (int m = MEMBERS - 2; m >= 0; m--) {
		real centre[CENTRE];
		centre_read(centre, rows + m * CENTRE);
		found = bracket(x, p, centre) == least ? m : found;
	}
	return found;
}
#else
static __device__ __forceinline__ int member(const pack (&x)[READS], int p, const real *rows, float) {
	real least = (real)1e30f;
	int found = 0;
#pragma unroll
	for (int m = 0; m < MEMBERS; m++) {
		real centre[CENTRE];
		centre_read(centre, rows + m * CENTRE);
		const real value = bracket(x, p, centre);
		if (m == 0 || value < least) {
			least = value;
			found = m;
		}
	}
	return found;
}
#endif

static __device__ __forceinline__ void search(int (&found)[P], const pack (&x)[READS], const real *centres) {
	float least[P];
	if (groups_compare(found, least, x, centres)) {
		search_all<1>(found, x, centres);
		return;
	}
#pragma unroll
	for (int p = 0; p < P; p++)
		found[p] = found[p] * MEMBERS + member(x, p, centres + found[p] * APART, least[p]);
}
#else
#define search search_all<8>
#endif

/* The objects of a lane, to the sums at `to`, in bytes. Of two the second takes over the sums of the first in the same
 * cluster. */
static __device__ __forceinline__ void lane_add(real *shared, const pack (&x)[READS], const int (&to)[P]) {
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
				sum[u].v[j] += x[p / EACH].v[p % EACH * D + j];
			}
		}
#pragma unroll
		for (int u = 0; u < AT_ONCE; u++)
			*at[u] = sum[u];
	}
}

static __device__ __forceinline__ void sums_add(real *shared, int table, const pack (&x)[READS], const int (&found)[P],
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

/* The new labels, where they are others, and how many have moved. */
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

/* Of the last tile, of which `left` are objects; the others are taken out of the counts again. */
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

/* The sums of a block, in the order of its warps and their tables. */
static __device__ void block_write(double *sums, unsigned *counts, const real *tables, const unsigned *count) {
	for (int e = (int)threadIdx.x; e < K * D; e += (int)blockDim.x) {
		double sum = 0;
		for (int warp = 0; warp < (int)blockDim.x / 32; warp++)
#pragma unroll 4
			for (int copy = 0; copy < COPIES; copy++)
				sum += tables[warp * TABLE + (e / D * COPIES + (copy + e) % COPIES) * D + e % D];
		sums[(ss_i64)blockIdx.x * (K * D) + e] = sum;
	}
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		counts[(ss_i64)blockIdx.x * K + c] = count[c];
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
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		count[c] = 0;
	__syncthreads();
	for (; first < n; first += step) {
		const int left = (int)min(n - first, (ss_i64)TILE);
		labels before[READS];
		pack x[READS];
		int found[P];
#pragma unroll
		for (int q = 0; q < READS; q++)
			if (left == TILE)
				before[q] = reinterpret_cast<const labels *>(membership + first)[q * 32 + lane];
		if (!AHEAD)
			tile_read(ahead, objects + first * D, lane);
#pragma unroll
		for (int q = 0; q < READS; q++)
			x[q] = ahead[q];
		if (AHEAD && first + step < n)
			tile_read(ahead, objects + (first + step) * D, lane);
		search(found, x, shared);
#pragma unroll
		for (int p = 0; p < P; p++)
			atomicAdd(&count[found[p]], 1u);
		if (left == TILE)
			moved += labels_write(membership + first, before, found, lane);
		else
			moved += rest_write(membership + first, count, found, lane, left);
		sums_add(shared, GROUPS * APART + warp * TABLE, x, found, lane);
	}
	for (int apart = 16; apart > 0; apart /= 2)
		moved += __shfl_xor_sync(0xffffffffu, moved, apart);
	if (lane == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
	__syncthreads();
	block_write(sums, counts, tables, count);
}
