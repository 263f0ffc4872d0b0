/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of starting a kernel, of an atomic addition, and of waiting for all blocks. */
#include "sweetspot.cuh"

/* Does as little as possible while still proving that it ran; launches of one stream run one after the other. */
extern "C" __global__ void ceiling_launch(unsigned *count) {
	if (threadIdx.x == 0 && blockIdx.x == 0)
		*count += 1;
}

static __device__ __forceinline__ unsigned self() {
	return blockIdx.x * blockDim.x + threadIdx.x;
}

/* Each thread adds to the same word. What is added differs, so that a warp is not made one addition. */
extern "C" __global__ void __launch_bounds__(1024) ceiling_atomic_one(unsigned *word, int steps) {
	for (int i = 0; i < steps; i++)
		atomicAdd(word, (self() & 1) + 1u);
}

/* Addition number t goes to word t * odd, of 2^k: all words in turn, in an order without neighbours. */
extern "C" __global__ void __launch_bounds__(1024) ceiling_atomic_many(unsigned *words, unsigned mask, unsigned odd,
                                                                       int steps) {
	const unsigned team = gridDim.x * blockDim.x;
	for (int i = 0; i < steps; i++)
		atomicAdd(&words[(i * team + self()) * odd & mask], 1u);
}

/* check: if not NULL, each block stores the number of the round in its place, and counts in check[gridDim.x] if its
 * neighbour's is older behind the barrier. */
extern "C" __global__ void __launch_bounds__(1024) ceiling_barrier(unsigned *barrier, int rounds, unsigned *check) {
	for (int round = 1; round <= rounds; round++) {
		if (check && threadIdx.x == 0)
			*(volatile unsigned *)&check[blockIdx.x] = (unsigned)round;
		ss_grid_barrier(barrier);
		if (check && threadIdx.x == 0 &&
		    *(volatile unsigned *)&check[(blockIdx.x + 1) % gridDim.x] < (unsigned)round)
			atomicAdd(&check[gridDim.x], 1u);
	}
}
