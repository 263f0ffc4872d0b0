/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by forest.cu and contract.cu: trees of pointers that never lead upwards, lists of pairs to link, and samples. */
#ifndef KERNELS_CC_CUDA_TREES_CUH
#define KERNELS_CC_CUDA_TREES_CUH
#include "sweetspot.cuh"

enum { TABLE = 4096 }; /* twice the samples at most */

static __device__ __forceinline__ int label_load(const int *label) {
	return *(const volatile int *)label;
}

/* Reserves room in the list for this thread's `count` pairs: one atomic operation a block. All threads of the block
 * call it. */
static __device__ __forceinline__ unsigned list_reserve(unsigned count, unsigned *total) {
	__shared__ unsigned before[33];
	const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	unsigned sum = count;
	for (int step = 1; step < 32; step *= 2) {
		const unsigned lower = __shfl_up_sync(0xffffffffu, sum, step);
		sum += lane >= step ? lower : 0;
	}
	if (lane == 31)
		before[warp] = sum;
	__syncthreads();
	if (threadIdx.x == 0) {
		unsigned all = 0;
		for (unsigned w = 0; w < blockDim.x / 32; w++) {
			const unsigned here = before[w];
			before[w] = all;
			all += here;
		}
		const unsigned base = all > 0 ? atomicAdd(total, all) : 0;
		before[32] = base;
	}
	__syncthreads();
	return before[32] + before[warp] + sum - count;
}

static __device__ __forceinline__ unsigned mixed(unsigned i) {
	ss_u64 z = (ss_u64)(i + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	return (unsigned)((z ^ (z >> 27)) * 0x94d049bb133111ebull >> 32);
}

/* Finds the root that a sample has most often, with one block. */
static __device__ void root_frequent(const int *label, int n, int samples, int *giant) {
	__shared__ int seen[TABLE];
	__shared__ unsigned count[TABLE], most;
	for (int i = threadIdx.x; i < TABLE; i += blockDim.x) {
		seen[i] = -1;
		count[i] = 0;
	}
	if (threadIdx.x == 0)
		most = 0;
	__syncthreads();
	for (int i = threadIdx.x; i < samples; i += blockDim.x) {
		int mine = label[(ss_u64)mixed(i) * n >> 32];
		for (int above; (above = label[mine]) != mine; mine = above)
			;
		unsigned at = (unsigned)mine * 2654435769u % TABLE;
		for (int held; (held = atomicCAS(&seen[at], -1, mine)) != -1 && held != mine; at = (at + 1) % TABLE)
			;
		atomicMax(&most, (atomicAdd(&count[at], 1u) + 1) * TABLE + at);
	}
	__syncthreads();
	if (threadIdx.x == 0)
		*giant = seen[most % TABLE];
}

#endif
