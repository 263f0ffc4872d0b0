/* SPDX-License-Identifier: BSD-3-Clause */
/* A block keeps a tile of the grid in registers, a thread ROWS cells of a column, and does many steps on it. It computes
 * `depth` cells around its tile as well (overlapped tiling: Krishnamoorthy et al., "Effective Automatic Parallelization of
 * Stencil Computations", 2007), so that it needs its neighbours' cells only every `depth` steps. They come by mail: a word
 * of 64 bits for each cell holds energy and epoch together, so that whoever finds the epoch has the energy, without a fence
 * and a flag (the way of NCCL's LL protocol: Hu et al., "Demystifying NCCL", 2025). There are two words a cell, for even
 * and odd epochs; a block that sends epoch e + 2 has read what its neighbours sent after they had read e.
 *
 * Inside a block, cells learn of each other only where something fires, which is rare: a barrier tells all warps whether it
 * does anywhere in the block, and only then the warps tell those around which cells at their edges fire.
 *
 * Sums do not influence the cells, so they can wait: a thread's energy of each step goes to shared memory, the
 * block's of `depth` steps to global memory, and quake_gather adds them up once all steps are done.
 *
 * -D: ROWS */
#include "sweetspot.cuh"

#define ALL 0xffffffffu
#define OUTSIDE -1e30f /* too little to change or to fire, whatever is added */
enum { BATCH = ROWS < 8 ? ROWS : 8, THREADS = ROWS > 16 ? 512 : 1024 };

struct tally {
	double energy;
	ss_u64 count;
};

/* A warp's news of the cells around it: bits of the row above it, of the one below, of the columns left and right. */
struct alignas(16) news {
	unsigned above, below, left, right;
};

/* Bit r is about row r of this thread's cells. */
struct cells {
	unsigned own;    /* of the tile */
	unsigned foreign; /* of another block's, in the grid */
	unsigned told;   /* own ones that other blocks want to know */
	ss_i64 first;    /* of row 0, from the grid's beginning */
};

/* Its bits are tested anew wherever they are used, instead of kept in a register each. */
static __device__ __forceinline__ unsigned opaque(unsigned bits) {
#ifndef SWEETSPOT_EMULATED
	asm volatile("" : "+r"(bits));
#endif
	return bits;
}

struct place {
	int warp, lane, across, down; /* warps beside each other, above each other */
};

static __device__ __forceinline__ struct place find_place() {
	struct place p;
	p.across = blockDim.x / 32;
	p.down = blockDim.y;
	p.lane = threadIdx.x % 32;
	p.warp = threadIdx.y * p.across + threadIdx.x / 32;
	return p;
}

static __device__ __forceinline__ struct cells find_cells(int n, int width, int height, int depth) {
	const int column = threadIdx.x, x = (int)blockIdx.x * width - depth + column;
	struct cells c = {0, 0, 0, 0};
	const int top = threadIdx.y * ROWS, y = (int)blockIdx.y * height - depth + top;
	c.first = (ss_i64)y * n + x;
	for (int r = 0; r < ROWS; r++) {
		const int row = top + r;
		const bool inside = x >= 0 && x < n && y + r >= 0 && y + r < n && column < width + 2 * depth &&
		                    row < height + 2 * depth;
		const bool own = inside && column >= depth && column < depth + width && row >= depth && row < depth + height;
		const bool edge = column < 2 * depth || column >= width || row < 2 * depth || row >= height;
		c.own |= (unsigned)own << r;
		c.foreign |= (unsigned)(inside && !own) << r;
		c.told |= (unsigned)(own && edge) << r;
	}
	return c;
}

/* Neighbouring warps read this. Warps at the edge of the block write to a spare place that is never read. */
static __device__ __forceinline__ void publish(struct news *news, struct place p, unsigned fired) {
	struct news *nobody = news + p.across * p.down;
	const int column = p.warp % p.across, row = p.warp / p.across;
	const unsigned top = __ballot_sync(ALL, fired & 1), bottom = __ballot_sync(ALL, fired >> (ROWS - 1) & 1);
	if (p.lane == 0) {
		(row > 0 ? news + p.warp - p.across : nobody)->below = top;
		(row + 1 < p.down ? news + p.warp + p.across : nobody)->above = bottom;
		(column > 0 ? news + p.warp - 1 : nobody)->right = fired;
	}
	if (p.lane == 31)
		(column + 1 < p.across ? news + p.warp + 1 : nobody)->left = fired;
	__syncthreads();
}

/* Something fires in the block: `fired` are this thread's. Which neighbours give is known before any cell changes; a cell
 * gets their energies one after the other, as each addition is rounded. */
static __device__ __forceinline__ void pass_on(float (&energy)[ROWS], struct news *news, struct place p, unsigned fired) {
	publish(news, p, fired);
	const struct news heard = news[p.warp];
	if (!__any_sync(ALL, (fired | heard.above | heard.below | heard.left | heard.right) != 0))
		return;
	const unsigned before = __shfl_up_sync(ALL, fired, 1), after = __shfl_down_sync(ALL, fired, 1);
	const unsigned left = p.lane == 0 ? heard.left : before, right = p.lane == 31 ? heard.right : after;
	const unsigned above = fired << 1 | (heard.above >> p.lane & 1);
	const unsigned below = fired >> 1 | (heard.below >> p.lane & 1) << (ROWS - 1);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		energy[r] += left >> r & 1 ? 1.0f : 0.0f;
		energy[r] += right >> r & 1 ? 1.0f : 0.0f;
		energy[r] += above >> r & 1 ? 1.0f : 0.0f;
		energy[r] += below >> r & 1 ? 1.0f : 0.0f;
		energy[r] -= energy[r] > 4.0f ? 4.0f : 0.0f;
	}
}

static __device__ __forceinline__ void fire(float (&energy)[ROWS], unsigned own, struct news *news, struct place p,
                                            unsigned *count) {
	unsigned fired = 0;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		fired |= (unsigned)(energy[r] > 4.0f) << r;
	if (fired & own)
		atomicAdd(count, (unsigned)__popc(fired & own));
	pass_on(energy, news, p, fired);
}

/* Most warps' rows are all of the tile, or none of a lane's. */
static __device__ __forceinline__ float sum_own(const float (&energy)[ROWS], unsigned own, bool whole) {
	float sum[2] = {0, 0};
	if (whole) {
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			sum[r % 2] += energy[r];
		return own ? sum[0] + sum[1] : 0;
	}
	own = opaque(own);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (own >> r & 1)
			sum[r % 2] += energy[r];
	return sum[0] + sum[1];
}

/* Does a cell of the block fire? */
static __device__ __forceinline__ bool charge(float (&energy)[ROWS]) {
	float top = OUTSIDE;
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		energy[r] += 1e-4f;
		top = fmaxf(top, energy[r]);
	}
	return __syncthreads_or(top > 4.0f) != 0;
}

/* Steps from number s on in which nothing fires; returns the first in which something does, charged, or `end`. */
static __device__ __forceinline__ int quiet(float (&energy)[ROWS], unsigned own, bool whole, float *sums, int stride, int s,
                                            int end) {
	for (; s < end; s++) {
		if (charge(energy))
			return s;
		sums[s * stride] = sum_own(energy, own, whole);
	}
	return end;
}

static __device__ __forceinline__ void epoch_steps(float (&energy)[ROWS], unsigned own, bool whole, struct news *news,
                                                   struct place p, float *sums, unsigned *count, int steps) {
	const int stride = p.across * p.down * 32;
	sums += p.warp * 32 + p.lane;
	for (int s = 0; (s = quiet(energy, own, whole, sums, stride, s, steps)) < steps; s++) {
		fire(energy, own, news, p, count + s);
		sums[s * stride] = sum_own(energy, own, whole);
	}
}

static __device__ __forceinline__ void send(const float (&energy)[ROWS], struct cells c, ss_u64 *mail, int n,
                                            unsigned epoch) {
	const unsigned told = opaque(c.told);
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (told >> r & 1)
			*(volatile ss_u64 *)(mail + c.first + (ss_i64)r * n) = (ss_u64)epoch << 32 | __float_as_uint(energy[r]);
}

/* Many are asked for before one is waited for. */
static __device__ __forceinline__ bool receive_batch(float *energy, unsigned foreign, const ss_u64 *mail, int n,
                                                     unsigned epoch) {
	ss_u64 letter[BATCH];
	bool all = true;
	foreign = opaque(foreign);
#pragma unroll
	for (int r = 0; r < BATCH; r++)
		letter[r] = foreign >> r & 1 ? *(const volatile ss_u64 *)(mail + (ss_i64)r * n) : 0;
#pragma unroll
	for (int r = 0; r < BATCH; r++)
		if (foreign >> r & 1) {
			all = all && (unsigned)(letter[r] >> 32) == epoch;
			energy[r] = __uint_as_float((unsigned)letter[r]);
		}
	return all;
}

static __device__ __forceinline__ void receive(float (&energy)[ROWS], struct cells c, const ss_u64 *mail, int n,
                                               unsigned epoch) {
#pragma unroll
	for (int first = 0; first < ROWS; first += BATCH)
		if (c.foreign >> first & ((1u << BATCH) - 1))
			while (!receive_batch(energy + first, c.foreign >> first, mail + c.first + (ss_i64)first * n, n, epoch))
				ss_pause();
}

/* The block's sums of `steps` steps, a warp a step. */
static __device__ __forceinline__ void settle(const float *sums, unsigned *count, int steps, struct place p,
                                              float *energies, unsigned *counts) {
	const int warps = p.across * p.down, blocks = gridDim.x * gridDim.y;
	const int block = blockIdx.y * gridDim.x + blockIdx.x;
	for (int s = p.warp; s < steps; s += warps) {
		float sum = 0;
		for (int w = 0; w < warps; w++)
			sum += sums[(s * warps + w) * 32 + p.lane];
		for (int offset = 16; offset > 0; offset /= 2)
			sum += __shfl_xor_sync(ALL, sum, offset);
		if (p.lane == 0) {
			energies[(ss_i64)s * blocks + block] = sum;
			counts[(ss_i64)s * blocks + block] = count[s];
			count[s] = 0;
		}
	}
}

/* `steps` steps from one grid into another; tiles of width x height. With more than `depth` steps all blocks must run at once,
 * and mail has 2 n * n words. energies and counts: a row of blocks for each step. */
extern "C" __global__ void __launch_bounds__(THREADS)
quake_tiles(const float *from, float *to, ss_u64 *mail, float *energies, unsigned *counts, int n, int width, int height,
            int depth, int steps, unsigned epoch) {
	SS_DYNAMIC(struct news, news);
	const struct place p = find_place();
	const struct cells c = find_cells(n, width, height, depth);
	const int warps = p.across * p.down, blocks = gridDim.x * gridDim.y;
	unsigned *count = (unsigned *)(news + warps + 1);
	float *sums = (float *)(count + depth), energy[ROWS];
	const bool whole = __all_sync(ALL, c.own == 0 || c.own == ALL >> (32 - ROWS));
	if (p.lane == 0)
		news[p.warp].above = news[p.warp].below = news[p.warp].left = news[p.warp].right = 0;
	for (int s = p.warp; s < depth; s += warps)
		count[s] = 0;
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		energy[r] = (c.own | c.foreign) >> r & 1 ? from[c.first + (ss_i64)r * n] : OUTSIDE;
	for (int done = 0; done < steps; done += depth, epoch++) {
		const int now = min(depth, steps - done);
		epoch_steps(energy, c.own, whole, news, p, sums, count, now);
		ss_u64 *box = mail + (epoch & 1) * (ss_i64)n * n;
		if (done + now < steps)
			send(energy, c, box, n, epoch);
		__syncthreads();
		settle(sums, count, now, p, energies + (ss_i64)done * blocks, counts + (ss_i64)done * blocks);
		if (done + now < steps)
			receive(energy, c, box, n, epoch);
	}
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (c.own >> r & 1)
			to[c.first + (ss_i64)r * n] = energy[r];
}

/* A warp a step. */
extern "C" __global__ void quake_gather(const float *energies, const unsigned *counts, int blocks, int steps,
                                        struct tally *tallies) {
	const int s = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	double energy = 0;
	ss_u64 count = 0;
	if (s >= steps)
		return;
	for (int b = lane; b < blocks; b += 32) {
		energy += (double)energies[(ss_i64)s * blocks + b];
		count += counts[(ss_i64)s * blocks + b];
	}
	for (int offset = 16; offset > 0; offset /= 2) {
		energy += __shfl_xor_sync(ALL, energy, offset);
		count += __shfl_xor_sync(ALL, count, offset);
	}
	if (lane == 0) {
		tallies[s].energy = energy;
		tallies[s].count = count;
	}
}
