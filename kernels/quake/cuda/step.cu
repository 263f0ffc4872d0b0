/* SPDX-License-Identifier: BSD-3-Clause */
/* One step, a thread for each cell, from one grid into another. The grids hold the energies of the end of a step,
 * and each reader adds the charge. -D: REDUCTION (0 atomics of every thread, 1 a tree in shared memory, 2 shuffles),
 * TILE (1: the block's cells and those around them are read once, into shared memory), BRANCHING (the border by
 * branches, else by selection). */
#include "sweetspot.cuh"

struct tally {
	double energy;
	ss_u64 count;
};

static __device__ __forceinline__ bool fires(float energy) {
	return energy + 1e-4f > 4.0f;
}

/* Outside the grid are zeros, which never fire. */
static __device__ __forceinline__ float look(const float *grid, int n, int x, int y) {
#if BRANCHING
	if (x < 0)
		return 0;
	if (x >= n)
		return 0;
	if (y < 0)
		return 0;
	if (y >= n)
		return 0;
	return grid[(ss_i64)y * n + x];
#else
	const bool inside = (unsigned)x < (unsigned)n & (unsigned)y < (unsigned)n;
	const float energy = grid[(ss_i64)max(0, min(y, n - 1)) * n + max(0, min(x, n - 1))];
	return inside ? energy : 0;
#endif
}

static __device__ __forceinline__ float receive(float energy, float neighbour) {
#if BRANCHING
	if (fires(neighbour))
		energy += 1.0f;
	return energy;
#else
	return energy + (fires(neighbour) ? 1.0f : 0.0f);
#endif
}

static __device__ __forceinline__ void add(struct tally *tally, float energy, int count) {
	atomicAdd(&tally->energy, (double)energy);
	if (count)
		atomicAdd(&tally->count, (ss_u64)count);
}

#if REDUCTION == 1
/* scratch: two words a thread. Any number of threads: the upper half is folded on the lower one. */
static __device__ void reduce(struct tally *tally, float energy, int count, float *scratch) {
	const int threads = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;
	int *counts = (int *)(scratch + threads);
	scratch[t] = energy;
	counts[t] = count;
	for (int left = threads; left > 1;) {
		const int half = (left + 1) / 2;
		__syncthreads();
		if (t < left - half) {
			scratch[t] += scratch[t + half];
			counts[t] += counts[t + half];
		}
		left = half;
	}
	if (t == 0)
		add(tally, scratch[0], counts[0]);
}
#elif REDUCTION == 2
/* Sums over the lanes below `live`, because the last warp may not be a whole one. */
static __device__ __forceinline__ void reduce_warp(float &energy, int &count, int lane, int live) {
	const unsigned mask = live < 32 ? (1u << live) - 1 : 0xffffffffu;
	for (int offset = 16; offset > 0; offset /= 2) {
		const float more = __shfl_down_sync(mask, energy, offset);
		const int others = __shfl_down_sync(mask, count, offset);
		energy += lane + offset < live ? more : 0;
		count += lane + offset < live ? others : 0;
	}
}

/* scratch: two words a warp */
static __device__ void reduce(struct tally *tally, float energy, int count, float *scratch) {
	const int threads = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;
	const int warp = t / 32, lane = t % 32, warps = (threads + 31) / 32;
	int *counts = (int *)(scratch + warps);
	reduce_warp(energy, count, lane, min(32, threads - warp * 32));
	if (lane == 0) {
		scratch[warp] = energy;
		counts[warp] = count;
	}
	__syncthreads();
	if (t >= warps)
		return;
	energy = scratch[t];
	count = counts[t];
	reduce_warp(energy, count, t, warps);
	if (t == 0)
		add(tally, energy, count);
}
#endif

#if TILE
static __device__ __forceinline__ void load(float *tile, const float *from, int n) {
	const int width = blockDim.x + 2, height = blockDim.y + 2, threads = blockDim.x * blockDim.y;
	for (int i = threadIdx.y * blockDim.x + threadIdx.x; i < width * height; i += threads)
		tile[i] = look(from, n, (int)(blockIdx.x * blockDim.x) + i % width - 1,
		               (int)(blockIdx.y * blockDim.y) + i / width - 1);
	__syncthreads();
}
#endif

/* Its tally has number `step`, or that many after *base. */
extern "C" __global__ void quake_step(const float *from, float *to, int n, struct tally *tallies, const ss_i64 *base,
                                      ss_i64 step) {
	SS_DYNAMIC(float, shared);
	float *scratch = shared;
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	const bool inside = x < n && y < n;
	struct tally *tally = tallies + step + (base ? *base : 0);
	float energy = 0;
	int count = 0;
#if TILE
	float *tile = shared;
	const int width = blockDim.x + 2;
	scratch += width * (blockDim.y + 2);
	load(tile, from, n);
	const float *at = tile + (threadIdx.y + 1) * width + threadIdx.x + 1;
#define LOOK(dx, dy) at[(dy) * width + (dx)]
#else
#define LOOK(dx, dy) look(from, n, x + (dx), y + (dy))
#endif
	if (inside) {
		const float before = LOOK(0, 0);
		energy = before + 1e-4f;
		count = fires(before);
		energy = receive(energy, LOOK(-1, 0));
		energy = receive(energy, LOOK(1, 0));
		energy = receive(energy, LOOK(0, -1));
		energy = receive(energy, LOOK(0, 1));
		if (energy > 4.0f)
			energy -= 4.0f;
		to[(ss_i64)y * n + x] = energy;
	}
#if REDUCTION == 0
	if (inside)
		add(tally, energy, count);
	(void)scratch;
#else
	reduce(tally, energy, count, scratch);
#endif
}

/* The end of a graph of `steps`. */
extern "C" __global__ void quake_advance(ss_i64 *base, ss_i64 steps) {
	*base += steps;
}
