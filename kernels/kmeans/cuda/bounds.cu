/* SPDX-License-Identifier: BSD-3-Clause */
/* For objects of two coordinates, most of which need no distance: the square is cut into EDGE x EDGE cells, and a cell keeps
 * the clusters that may be the nearest of a point in it. A cluster is out where the nearest of the cell's middle is nearer
 * to all corners (Kanungo et al., "An efficient k-means clustering algorithm: analysis and implementation", 2002, filter
 * the clusters of a tree's cells so). Only objects that change or whose cell has several clusters are looked at again, 32 of
 * a warp at once, and only changes are added to the sums, which go on from one loop to the next: coordinates are
 * multiples of 2^-12, so that whole numbers sum them up in any order.
 *
 * One cooperative launch does all loops. A warp has the same objects in each, and walks through them forwards and backwards
 * in turn: what it has read last is still in the L2 cache. (Fetching more tiles ahead into that cache does not pay: 0.98
 * to 1.6 times the time on an H200.)
 *
 * The host (kmeans_cuda.c) mirrors the sizes of the parts of shared memory. */
#include "bracket.cuh"

enum { PACK = 16 / sizeof(real), EACH = PACK / D /* objects in 16 bytes */ };
enum { READS = POINTS > EACH ? POINTS / EACH : 1, P = READS * EACH, TILE = 32 * P, QUEUE = TILE + 32 };
enum { COPIES = 32 /* of the sums: the lanes' own, so that the addresses of a warp differ */ };
enum { BITS = 12, SHIFT = EDGE == 32 ? 7 : EDGE == 64 ? 6 : 5, CENTRE = 4 /* |c|^2 / 2 is the third */ };

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

/* |c|^2 / 2 - xc with floats, of a centre with its sign turned; what it and the brackets of f32 are off by is far below
 * MARGIN. */
#define MARGIN 4e-6f
static __device__ __forceinline__ float bracket_near(const real *centre, float x, float y) {
	const float a = (float)centre[0], b = (float)centre[1];
	return (a * a + b * b) * 0.5f + x * a + y * b;
}

/* The clusters of a cell, lowest first: up to three, and above them how many there are beside the first, 3 for any more. */
static __device__ __forceinline__ unsigned cell_word(const real *centres, int cell) {
	const float half = 0.5f / EDGE, x = (cell % EDGE) * 2 * half + half, y = (cell / EDGE) * 2 * half + half;
	float least = 1e30f;
	int found = 0, count = 0;
#pragma unroll 2
	for (int c = 0; c < K; c++) {
		const float value = bracket_near(centres + c * CENTRE, x, y);
		found = value < least ? c : found;
		least = min(least, value);
	}
	unsigned word = 0;
#pragma unroll 2
	for (int c = 0; c < K; c++) {
		const float across = fabsf((float)(centres[c * CENTRE] - centres[found * CENTRE]));
		const float up = fabsf((float)(centres[c * CENTRE + 1] - centres[found * CENTRE + 1]));
		if (bracket_near(centres + c * CENTRE, x, y) - least - half * (across + up) <= MARGIN) {
			word |= count < 3 ? (unsigned)c << 8 * count : 0;
			count++;
		}
	}
	return word | (unsigned)min(count - 1, 3) << 24;
}

/* Shared memory of a block, beside the queues of its warps. */
struct block {
	unsigned *cells;
	real *centres;
	int *sums /* x, y and the count of a cluster, each in COPIES */;
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
	int *const own = b.sums + c * (D + 1) * COPIES + threadIdx.x % COPIES;
	atomicAdd(own, x);
	atomicAdd(own + COPIES, y);
	atomicAdd(own + 2 * COPIES, count);
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
	sums_add(b, before, -x, -y, -1);
	return 1;
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

/* The words of the cells of a tile's objects, and the labels that these had. The first loop makes the labels here: objects
 * ENTER the lowest cluster of their cell. */
struct looks {
	unsigned word[P], was[P];

	template <bool ENTER>
	__device__ __forceinline__ void take(const block &b, const tile &of, label *membership, int left, int lane) {
#pragma unroll
		for (int q = 0; q < READS; q++) {
			unsigned all = of.before[q];
			if (ENTER)
				all = 0;
#pragma unroll
			for (int e = 0; e < EACH; e++) {
				const int p = q * EACH + e, x = bits_of(of.x[q].v[e * D]), y = bits_of(of.x[q].v[e * D + 1]);
				word[p] = b.cells[cell_of(x, y)];
				if (ENTER && (q * 32 + lane) * EACH + e < left)
					sums_add(b, (int)(word[p] & 255), x, y, 1);
				if (ENTER)
					all |= (word[p] & 255) << e * 8;
				was[p] = all >> e * 8 & 255u;
			}
			if (ENTER)
				reinterpret_cast<labels *>(membership)[q * 32 + lane] = (labels)all;
		}
	}

	/* Objects that may change go to the queue. */
	__device__ __forceinline__ void queue_up(unsigned *queue, int &queued, ss_i64 first, int left, int lane) const {
#pragma unroll
		for (int p = 0; p < P; p++) {
			const int at = (p / EACH * 32 + lane) * EACH + p % EACH;
			const bool again = word[p] != was[p] && at < left;
			const unsigned all = __ballot_sync(0xffffffffu, again);
			if (again)
				queue[queued + __popc(all & ((1u << lane) - 1))] = (unsigned)(first + at);
			queued += __popc(all);
		}
	}
};

/* The sums' changes go to those of all blocks. */
static __device__ __forceinline__ void sums_flush(const block &b, ss_u64 *sums, int warp, int warps, int lane) {
	for (int e = warp; e < K * (D + 1); e += warps) {
		ss_i64 sum = b.sums[e * COPIES + lane];
		b.sums[e * COPIES + lane] = 0;
		for (int apart = 16; apart > 0; apart /= 2)
			sum += __shfl_xor_sync(0xffffffffu, sum, apart);
		if (lane == 0 && sum != 0)
			atomicAdd(sums + e, (ss_u64)sum);
	}
}

/* Centres with their signs turned: the given ones, or the means of the sums. A cluster without objects keeps its own. */
static __device__ __forceinline__ void centres_move(const block &b, const real *given, const ss_u64 *sums) {
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x) {
		const double count = given ? 0 : (double)(ss_i64)__ldcg(sums + c * (D + 1) + D);
		real *const centre = b.centres + c * CENTRE;
		for (int j = 0; j < D; j++) {
			if (given)
				centre[j] = -given[c * D + j];
			else if (count > 0)
				centre[j] = (real)-grid_nearest((double)(ss_i64)__ldcg(sums + c * (D + 1) + j) / (1 << BITS) / count);
		}
		const double x = centre[0], y = centre[1];
		centre[2] = (real)(fma(y, y, x * x) * 0.5);
	}
	__syncthreads();
}

/* Each block makes a part of the cells, and takes all. */
static __device__ __forceinline__ void cells_fill(const block &b, unsigned *words, unsigned *barrier) {
	const int step = (int)(gridDim.x * blockDim.x), lane = (int)threadIdx.x % 32;
	for (int cell = (int)(threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + lane; cell < EDGE * EDGE; cell += step)
		words[cell] = cell_word(b.centres, cell);
	ss_grid_barrier(barrier);
	for (int e = (int)threadIdx.x; e < EDGE * EDGE / 4; e += (int)blockDim.x)
		reinterpret_cast<uint4 *>(b.cells)[e] = __ldcg(reinterpret_cast<const uint4 *>(words) + e);
	__syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) assign(const real *objects, real *centres, label *membership, ss_u64 *changed, ss_i64 n, int loops,
                                  ss_u64 *sums, unsigned *words, unsigned *barrier) {
	SS_DYNAMIC(unsigned, shared);
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32, warps = (int)blockDim.x / 32;
	real *const rows = reinterpret_cast<real *>(shared + EDGE * EDGE);
	const block b{shared, rows, reinterpret_cast<int *>(rows + K * CENTRE)};
	unsigned *const queue = reinterpret_cast<unsigned *>(b.sums + K * (D + 1) * COPIES) + warp * QUEUE;
	const ss_i64 step = (ss_i64)gridDim.x * warps * TILE, start = ((ss_i64)blockIdx.x * warps + warp) * TILE;
	const ss_i64 end = start < n ? start + (n - 1 - start) / step * step : start; /* the last tile */
	const int tiles = start < n ? (int)((end - start) / step) + 1 : 0;
	tile coming;
	for (int e = (int)threadIdx.x; e < K * (D + 1) * COPIES; e += (int)blockDim.x)
		b.sums[e] = 0;
	if (tiles > 0)
		coming.read(objects + start * D, membership + start, lane);
	centres_move(b, centres, sums);
	for (int loop = 0; loop < loops; loop++) {
		const ss_i64 last = loop % 2 == 0 ? end : start, way = loop % 2 == 0 ? step : -step;
		int queued = 0, moved = 0;
		ss_i64 first = last == end ? start : end;
		cells_fill(b, words, barrier);
		for (int at = 0; at < tiles; at++, first += way) {
			const int left = (int)min(n - first, (ss_i64)TILE);
			looks own;
			if (loop == 0)
				own.take<true>(b, coming, membership + first, left, lane);
			else
				own.take<false>(b, coming, membership, left, lane);
			if (at + 1 < tiles)
				coming.read(objects + (first + way) * D, membership + first + way, lane);
			own.queue_up(queue, queued, first, left, lane);
			__syncwarp();
			for (; queued >= 32; queued -= 32)
				moved += object_move(b, objects, membership, queue[queued - 32 + lane]);
			__syncwarp();
		}
		if (lane < queued)
			moved += object_move(b, objects, membership, queue[lane]);
		__syncwarp();
		if (tiles > 0) /* some of its labels have just changed */
			coming.read(objects + last * D, membership + last, lane);
		changed_add(changed + loop, moved, lane);
		__syncthreads();
		sums_flush(b, sums, warp, warps, lane);
		ss_grid_barrier(barrier);
		centres_move(b, NULL, sums);
	}
	if (blockIdx.x == 0)
		for (int e = (int)threadIdx.x; e < K * D; e += (int)blockDim.x)
			centres[e] = -b.centres[e / D * CENTRE + e % D];
	if (blockIdx.x == 0 && threadIdx.x == 0)
		changed[0] = n;
}
