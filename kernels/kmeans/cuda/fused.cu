/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the objects a loop: a warp assigns a tile of 32 * POINTS objects and adds them up at once.
 *
 * |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - xc), so the nearest centre is where the bracket is least: one fused operation a
 * coordinate, from the objects in registers and the centres in shared memory, which all lanes read at the same address.
 *
 * Sums need no atomic operations: LANES lanes take an object, a coordinate each, so 32 / LANES objects go at a time, and
 * each lane has a table of its own, CLUSTERS x CHUNKS numbers, all of them in its own bank. Blocks stay on their SM, write
 * their sums once, and means.cu adds them up.
 *
 * With GROUP clusters in a group a lane first finds the group with the nearest centre: it compares the upper halves of the
 * brackets, as floats, whose order is theirs but for ties. The pipe for doubles has the products alone then. The group is
 * searched in full, and where two tie, all of them are.
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

enum { D = COORDS, K = CLUSTERS, P = POINTS, TILE = 32 * P };
enum { PACK = 16 / sizeof(real), CENTRE = (D + PACK) / PACK * PACK }; /* |c|^2 / 2 comes last */
/* Groups are 16 bytes apart, so that lanes that search different ones read from different banks. */
enum { FILLED = GROUP > 0 ? (K + GROUP - 1) / GROUP * GROUP : K, MEMBERS = GROUP > 0 ? GROUP : FILLED };
enum { GROUPS = FILLED / MEMBERS, APART = MEMBERS * CENTRE + (GROUP > 0 ? PACK : 0) };
enum { LANES = D > 16 ? 32 : D > 8 ? 16 : D > 4 ? 8 : D > 2 ? 4 : D, CHUNKS = (D + LANES - 1) / LANES };
enum { TABLE = K * CHUNKS * 32, ROW_BYTES = D * sizeof(real), WIDE = ROW_BYTES % 16 == 0 };
/* Rows of an odd number of 16 bytes: 8 lanes read 16 bytes each from different banks. */
enum { ROW = WIDE && ROW_BYTES / 16 % 2 == 0 ? D + PACK : D };
enum { AT_ONCE = LANES % 2 == 0 ? 2 : 1, UNROLL = D >= 16 ? 2 : D >= 4 ? 4 : 8 };

struct alignas(16) pack {
	real v[PACK];
};

/* With the sign and the half of the bracket, computed as the host does it (single.c). Clusters that only fill up the last
 * group are far away. */
static __device__ void centres_stage(real *shared, const real *centres) {
	for (int c = (int)threadIdx.x; c < FILLED; c += (int)blockDim.x) {
		real *const row = shared + c / MEMBERS * APART + c % MEMBERS * CENTRE;
		double square = 0;
		for (int j = 0; j < D; j++) {
			const double x = c < K ? centres[c * D + j] : (real)0;
			row[j] = (real)-x;
			square = fma(x, x, square);
		}
		row[D] = c < K ? (real)(square * 0.5) : (real)1e29f;
	}
}

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

static __device__ __forceinline__ void centre_read(real (&centre)[CENTRE], const real *row) {
#pragma unroll
	for (int j = 0; j < CENTRE; j += PACK) {
		const pack some = *reinterpret_cast<const pack *>(row + j);
#pragma unroll
		for (int v = 0; v < PACK; v++)
			centre[j + v] = some.v[v];
	}
}

static __device__ __forceinline__ real bracket(const real (&x)[D], const real (&centre)[CENTRE]) {
	real sum = centre[D];
#pragma unroll
	for (int j = 0; j < D; j++)
		sum = MULADD(x[j], centre[j], sum);
	return sum;
}

/* Every cluster; of equals the first. */
static __device__ __forceinline__ void search_all(int (&found)[P], const real (&x)[P][D], const real *centres) {
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
				const real value = bracket(x[p], centre);
				if (value < least[p]) {
					least[p] = value;
					found[p] = group * MEMBERS + m;
				}
			}
		}
}

#if GROUP > 0
/* In the order of the numbers but for ties. */
static __device__ __forceinline__ float upper(double x) {
	return __int_as_float(__double2hiint(x));
}

/* Of each object the group; whether there was a tie. */
static __device__ __forceinline__ bool groups_compare(int (&found)[P], const real (&x)[P][D], const real *centres) {
	float least[P];
	bool tie = false;
#pragma unroll
	for (int p = 0; p < P; p++) {
		least[p] = 3e38f;
		found[p] = 0;
	}
#pragma unroll 2
	for (int group = 0; group < GROUPS; group++) {
		float own[P];
#pragma unroll
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, centres + group * APART + m * CENTRE);
#pragma unroll
			for (int p = 0; p < P; p++) {
				const float value = upper(bracket(x[p], centre));
				own[p] = m == 0 ? value : fminf(own[p], value);
			}
		}
#pragma unroll
		for (int p = 0; p < P; p++) {
			tie |= own[p] == least[p];
			found[p] = own[p] < least[p] ? group : found[p];
			least[p] = fminf(own[p], least[p]);
		}
	}
	return tie;
}

static __device__ __forceinline__ void search(int (&found)[P], const real (&x)[P][D], const real *centres) {
	if (groups_compare(found, x, centres)) {
		search_all(found, x, centres);
		return;
	}
#pragma unroll
	for (int p = 0; p < P; p++) {
		const int first = found[p] * MEMBERS;
		const real *const rows = centres + found[p] * APART;
		real least = (real)1e30f;
#pragma unroll
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, rows + m * CENTRE);
			const real value = bracket(x[p], centre);
			if (value < least) {
				least = value;
				found[p] = first + m;
			}
		}
	}
}
#else
#define search search_all
#endif

static __device__ __forceinline__ void nearest(int (&found)[P], const real *tile, const real *centres, int lane) {
	real x[P][D];
#pragma unroll
	for (int p = 0; p < P; p++)
		row_read(x[p], tile + (p * 32 + lane) * ROW);
	search(found, x, centres);
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

/* The sums of a block, in the order of its warps and their tables. */
static __device__ void block_write(double *sums, unsigned *counts, const real *tables, const unsigned *count) {
	for (int e = (int)threadIdx.x; e < K * D; e += (int)blockDim.x) {
		const int c = e / D, j = e % D;
		double sum = 0;
		for (int warp = 0; warp < (int)blockDim.x / 32; warp++)
#pragma unroll
			for (int copy = 0; copy < 32 / LANES; copy++)
				sum += tables[warp * TABLE + (c * CHUNKS + j / LANES) * 32 + copy * LANES + j % LANES];
		sums[(ss_i64)blockIdx.x * (K * D) + e] = sum;
	}
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		counts[(ss_i64)blockIdx.x * K + c] = count[c];
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
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		count[c] = 0;
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
	for (int apart = 16; apart > 0; apart /= 2)
		moved += __shfl_xor_sync(0xffffffffu, moved, apart);
	if (lane == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
	__syncthreads();
	block_write(sums, counts, tables, count);
}
