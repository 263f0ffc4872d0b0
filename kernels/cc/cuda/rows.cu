/* SPDX-License-Identifier: BSD-3-Clause */
/* Label propagation: every row takes the smallest label among its neighbours, with GROUP threads for each row, or a block
 * where GROUP is 0. The same rules as on the CPU (kernels/cc/cc.h): a label only falls, and names a vertex of its
 * component. */
#include "sweetspot.cuh"

/* Follows the pointers from v; no pointer leads upwards, and only roots point to themselves. (Labels may come from a
 * first-level cache that is behind: it begins empty with every launch and every barrier of the grid, and a late label costs
 * another step, no more.) */
static __device__ __forceinline__ int root_of(const int *label, int v) {
	int at = label[v], above;
	while ((above = label[at]) != at)
		at = above;
	return at;
}

/* The sum of all threads' values goes to *sum, with one atomic operation per block. */
static __device__ __forceinline__ void block_add(unsigned value, unsigned *sum) {
	__shared__ unsigned total;
	if (threadIdx.x == 0)
		total = 0;
	__syncthreads();
	if (value > 0)
		atomicAdd(&total, value);
	__syncthreads();
	if (threadIdx.x == 0 && total > 0)
		atomicAdd(sum, total);
}

/* A row has its least: 1 if its label falls. `jump`: the vertex that the old label names gets it, too. */
static __device__ __forceinline__ unsigned row_finish(const int *from, int *to, int v, int own, int least, int jump) {
	if (jump && least < own) {
		atomicMin(&to[own], least);
		atomicMin(&to[v], least);
	} else if (least < own || from != to)
		to[v] = least;
	return least < own;
}

/* Every step-th neighbour's label, beginning with number `at`. */
template <class O>
static __device__ __forceinline__ int row_least(const O *first, const int *target, const int *from, int v, int at,
                                                int step) {
	int least = 0x7fffffff;
	for (O e = first[v] + at, end = first[v + 1]; e < end; e += step)
		least = min(least, from[target[e]]);
	return least;
}

#if GROUP > 0
enum { ROWS = 32 / GROUP }; /* of a warp; lanes that are left over idle */

/* The least of a group goes to its first lane. */
static __device__ __forceinline__ int group_least(int least, int rank) {
	for (int step = 16; step > 0; step /= 2) {
		if (step >= GROUP)
			continue;
		int other = __shfl_down_sync(0xffffffffu, least, step);
		if (rank + step < GROUP)
			least = min(least, other);
	}
	return least;
}

template <class O>
static __device__ __forceinline__ unsigned sweep(const O *first, const int *target, int n, const int *from, int *to,
                                                 int jump) {
	const ss_i64 warps = (ss_i64)gridDim.x * (blockDim.x / 32);
	const ss_i64 warp = (ss_i64)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
	const int lane = threadIdx.x % 32, rank = lane % GROUP;
	unsigned fell = 0;
	for (ss_i64 base = warp * ROWS; base < n; base += warps * ROWS) {
		const bool mine = lane / GROUP < ROWS && base + lane / GROUP < n;
		const int v = mine ? (int)base + lane / GROUP : 0;
		int least = mine ? row_least(first, target, from, v, rank, GROUP) : 0;
		least = group_least(least, rank);
		if (mine && rank == 0) {
			const int own = from[v];
			fell += row_finish(from, to, v, own, min(own, least), jump);
		}
	}
	return fell;
}
#else
static __device__ __forceinline__ int block_least(int least) {
	__shared__ int all;
	if (threadIdx.x == 0)
		all = least;
	__syncthreads();
	atomicMin(&all, least);
	__syncthreads();
	least = all;
	__syncthreads();
	return least;
}

template <class O>
static __device__ __forceinline__ unsigned sweep(const O *first, const int *target, int n, const int *from, int *to,
                                                 int jump) {
	unsigned fell = 0;
	for (ss_i64 v = blockIdx.x; v < n; v += gridDim.x) {
		int least = block_least(row_least(first, target, from, (int)v, (int)threadIdx.x, (int)blockDim.x));
		if (threadIdx.x == 0) {
			const int own = from[v];
			fell += row_finish(from, to, (int)v, own, min(own, least), jump);
		}
	}
	return fell;
}
#endif

static __device__ __forceinline__ void compress(int *label, int n) {
	const ss_i64 step = (ss_i64)gridDim.x * blockDim.x;
	for (ss_i64 v = (ss_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += step)
		label[v] = root_of(label, (int)v);
}

/* Until a step changes nothing, without the host. changed[0 .. kept - 1] are the first steps' counts, the three behind them
 * serve the others in turn (one is cleared while one is added to and one may still be read); all are 0 at the start, and
 * *steps is how many there were. */
template <class O>
static __device__ __forceinline__ void sweep_all(const O *first, const int *target, int n, int *label, int *other, int jump,
                                                 unsigned *changed, int kept, unsigned *barrier, ss_i64 *steps) {
	const bool leader = blockIdx.x == 0 && threadIdx.x == 0;
	unsigned *slot = changed, *next, count;
	ss_i64 step = 0;
	do {
		next = step + 1 < kept ? changed + step + 1 : changed + kept + (step + 1) % 3;
		if (leader && step + 1 >= kept)
			*next = 0;
		block_add(sweep(first, target, n, step % 2 ? other : label, step % 2 ? label : other, jump), slot);
		ss_grid_barrier(barrier);
		count = *(volatile unsigned *)slot;
		if (jump && count > 0) {
			compress(label, n);
			ss_grid_barrier(barrier);
		}
		slot = next;
		step++;
	} while (count > 0);
	if (leader)
		*steps = step;
}

#define KERNELS(O, bits)                                                                                               \
	extern "C" __global__ void sweep_##bits(const O *first, const int *target, int n, const int *from, int *to,        \
	                                        int jump, unsigned *changed) {                                             \
		block_add(sweep(first, target, n, from, to, jump), changed);                                                   \
	}                                                                                                                  \
	extern "C" __global__ void sweep_all_##bits(const O *first, const int *target, int n, int *label, int *other,      \
	                                            int jump, unsigned *changed, int kept, unsigned *barrier,              \
	                                            ss_i64 *steps) {                                                       \
		sweep_all(first, target, n, label, other, jump, changed, kept, barrier, steps);                                \
	}

KERNELS(unsigned, 32)
KERNELS(ss_u64, 64)

extern "C" __global__ void labels_start(int *label, int n) {
	const ss_i64 step = (ss_i64)gridDim.x * blockDim.x;
	for (ss_i64 v = (ss_i64)blockIdx.x * blockDim.x + threadIdx.x; v < n; v += step)
		label[v] = (int)v;
}

extern "C" __global__ void labels_compress(int *label, int n) {
	compress(label, n);
}
