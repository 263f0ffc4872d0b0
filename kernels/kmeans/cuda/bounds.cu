/* SPDX-License-Identifier: BSD-3-Clause */
/* For objects of two coordinates, most of which need no distance: the square is cut into EDGE x EDGE cells, and a cell keeps
 * the clusters that may be the nearest of a point in it. A cluster is out where the nearest of the cell's middle is nearer
 * to all corners (Kanungo et al., "An efficient k-means clustering algorithm: analysis and implementation", 2002, filter
 * the clusters of a tree's cells so). Only objects that change or whose cell has several clusters are looked at again, 32 of
 * a warp at once, and only changes are added to the sums, which a block keeps from one loop to the next: coordinates are
 * multiples of 2^-12, so that whole numbers sum them up in any order.
 *
 * The host (kmeans_cuda.c) mirrors the sizes of the parts of shared memory. */
#include "bracket.cuh"

enum { PACK = 16 / sizeof(real), EACH = PACK / D /* objects in 16 bytes */ };
enum { READS = POINTS > EACH ? POINTS / EACH : 1, P = READS * EACH, TILE = 32 * P, QUEUE = TILE + 32 };
enum { COPIES = 32 /* of the sums: the lanes' own, so that the addresses of a warp differ */ };
enum { BITS = 12, SHIFT = EDGE == 32 ? 7 : EDGE == 64 ? 6 : 5, NOBODY = 255, CENTRE = 4 /* |c|^2 / 2 is the third */ };

struct alignas(16) pack {
	real v[PACK];
};
/* The labels of EACH objects as one number. They are taken apart where they are used, so that nothing waits for them before. */
#if TYPE == 32
typedef unsigned short labels;
#else
typedef unsigned char labels;
#endif

static __device__ __forceinline__ int bits_of(real x) {
#if TYPE == 32
	return __float_as_int(x + 1) >> (23 - BITS) & ((1 << BITS) - 1);
#else
	return __double2hiint(x + 1) >> (20 - BITS) & ((1 << BITS) - 1);
#endif
}

static __device__ __forceinline__ int cell_of(int x, int y) {
	return (y >> SHIFT) * EDGE + (x >> SHIFT);
}

/* |c|^2 / 2 - xc with floats; what it and the brackets of f32 are off by is far below MARGIN. */
#define MARGIN 4e-6f
static __device__ __forceinline__ float bracket_near(const real *centre, float x, float y) {
	const float a = (float)centre[0], b = (float)centre[1];
	return (a * a + b * b) * 0.5f - x * a - y * b;
}

/* The clusters of a cell, lowest first: up to three, and above them how many there are beside the first, 3 for any more. */
extern "C" __global__ void cells(const real *centres, unsigned *words) {
	const int cell = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	const float half = 0.5f / EDGE, x = (cell % EDGE) * 2 * half + half, y = (cell / EDGE) * 2 * half + half;
	if (cell >= EDGE * EDGE)
		return;
	float least = 1e30f;
	int found = 0, count = 0;
	for (int c = 0; c < K; c++) {
		const float value = bracket_near(centres + c * D, x, y);
		found = value < least ? c : found;
		least = min(least, value);
	}
	unsigned word = 0;
	for (int c = 0; c < K; c++) {
		const float across = fabsf((float)(centres[c * D] - centres[found * D]));
		const float up = fabsf((float)(centres[c * D + 1] - centres[found * D + 1]));
		if (bracket_near(centres + c * D, x, y) - least - half * (across + up) <= MARGIN) {
			word |= count < 3 ? (unsigned)c << 8 * count : 0;
			count++;
		}
	}
	words[cell] = word | (unsigned)min(count - 1, 3) << 24;
}

/* Shared memory of a block, beside the queues of its warps. */
struct block {
	const unsigned *cells;
	real *centres;
	int *sums, *counts;
};

static __device__ __forceinline__ void compare(const block &b, real x, real y, int c, real &least, int &found) {
	const real *const centre = b.centres + c * CENTRE;
	const real value = MULADD(y, centre[1], MULADD(x, centre[0], centre[2]));
	if (value < least) {
		least = value;
		found = c;
	}
}

static __device__ __forceinline__ int nearest(const block &b, real x, real y, unsigned word) {
	const int more = (int)(word >> 24);
	int found = (int)(word & 255);
	real least = (real)1e30f;
	if (more == 0)
		return found;
	if (more == 3)
		for (int c = 0; c < K; c++)
			compare(b, x, y, c, least, found);
	else
		for (int e = 0; e <= more; e++, word >>= 8)
			compare(b, x, y, (int)(word & 255), least, found);
	return found;
}

static __device__ __forceinline__ void sums_add(const block &b, int c, int x, int y, int count) {
	const int own = (int)threadIdx.x % COPIES;
	atomicAdd(&b.sums[c * D * COPIES + own], x);
	atomicAdd(&b.sums[(c * D + 1) * COPIES + own], y);
	atomicAdd(&b.counts[c * COPIES + own], count);
}

/* Assigns object i; 1 if it changes. */
static __device__ __forceinline__ int object_move(const block &b, const real *objects, label *membership, ss_i64 i) {
	struct alignas(2 * sizeof(real)) pair {
		real x, y;
	};
	const pair o = reinterpret_cast<const pair *>(objects)[i];
	const int before = membership[i], x = bits_of(o.x), y = bits_of(o.y);
	const int found = nearest(b, o.x, o.y, b.cells[cell_of(x, y)]);
	if (found == before)
		return 0;
	membership[i] = (label)found;
	sums_add(b, found, x, y, 1);
	if (before != NOBODY)
		sums_add(b, before, -x, -y, -1);
	return 1;
}

static __device__ __forceinline__ void block_fill(const block &b, unsigned *cells, const unsigned *words,
                                                  const real *centres) {
	for (int e = (int)threadIdx.x; e < EDGE * EDGE / 4; e += (int)blockDim.x)
		reinterpret_cast<uint4 *>(cells)[e] = reinterpret_cast<const uint4 *>(words)[e];
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x) {
		const double x = centres[c * D], y = centres[c * D + 1];
		b.centres[c * CENTRE] = (real)-x;
		b.centres[c * CENTRE + 1] = (real)-y;
		b.centres[c * CENTRE + 2] = (real)(fma(y, y, x * x) * 0.5);
	}
	for (int e = (int)threadIdx.x; e < K * (D + 1) * COPIES; e += (int)blockDim.x)
		b.sums[e] = 0;
}

/* Memory beyond the last object and its label is there. */
struct tile {
	pack x[READS];
	labels before[READS];

	__device__ __forceinline__ void read(const real *objects, const label *membership, int lane) {
#pragma unroll
		for (int q = 0; q < READS; q++) {
			x[q] = reinterpret_cast<const pack *>(objects)[q * 32 + lane];
			before[q] = reinterpret_cast<const labels *>(membership)[q * 32 + lane];
		}
	}
};

static __device__ __forceinline__ int lanes_sum(int value) {
	for (int apart = 16; apart > 0; apart /= 2)
		value += __shfl_xor_sync(0xffffffffu, value, apart);
	return value;
}

extern "C" __global__ void assign(const real *objects, const real *centres, label *membership, ss_u64 *changed, ss_i64 n,
                                  double *sums, unsigned *counts, const unsigned *words) {
	SS_DYNAMIC(unsigned, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	real *const rows = reinterpret_cast<real *>(shared + EDGE * EDGE);
	int *const own = reinterpret_cast<int *>(rows + K * CENTRE);
	const block b{shared, rows, own, own + K * D * COPIES};
	unsigned *const queue = reinterpret_cast<unsigned *>(b.counts + K * COPIES) + warp * QUEUE;
	const ss_i64 step = (ss_i64)gridDim.x * warps * TILE;
	ss_i64 first = ((ss_i64)blockIdx.x * warps + warp) * TILE;
	int queued = 0, moved = 0;
	tile ahead;
	block_fill(b, shared, words, centres);
	if (first < n)
		ahead.read(objects + first * D, membership + first, lane);
	__syncthreads();
	for (; first < n; first += step) {
		const int left = (int)min(n - first, (ss_i64)TILE);
		const ss_i64 next = first + step < n ? first + step : first;
		unsigned word[P], was[P];
#pragma unroll
		for (int p = 0; p < P; p++) {
			const real *const x = ahead.x[p / EACH].v + p % EACH * D;
			word[p] = shared[cell_of(bits_of(x[0]), bits_of(x[1]))];
			was[p] = ahead.before[p / EACH] >> p % EACH * 8 & 255u;
		}
		ahead.read(objects + next * D, membership + next, lane);
#pragma unroll
		for (int p = 0; p < P; p++) {
			const int at = (p / EACH * 32 + lane) * EACH + p % EACH;
			const bool again = word[p] != was[p] && at < left;
			const unsigned all = __ballot_sync(0xffffffffu, again);
			if (again)
				queue[queued + __popc(all & ((1u << lane) - 1))] = (unsigned)(first + at);
			queued += __popc(all);
		}
		__syncwarp();
		for (; queued >= 32; queued -= 32)
			moved += object_move(b, objects, membership, queue[queued - 32 + lane]);
		__syncwarp();
	}
	if (lane < queued)
		moved += object_move(b, objects, membership, queue[lane]);
	__syncwarp();
	changed_add(changed, moved, lane);
	__syncthreads();
	for (int e = warp; e < K * (D + 1); e += warps) {
		const int sum = lanes_sum(b.sums[e * COPIES + lane]);
		if (lane == 0 && e < K * D)
			sums[(ss_i64)blockIdx.x * (K * D) + e] += (double)sum / (1 << BITS);
		else if (lane == 0)
			counts[(ss_i64)blockIdx.x * K + e - K * D] += (unsigned)sum;
	}
}
