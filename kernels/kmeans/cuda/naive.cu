/* SPDX-License-Identifier: BSD-3-Clause */
/* The textbook's assignment: an array of objects, a thread an object, everything from global memory. */
#include "sweetspot.cuh"
#if TYPE == 32
typedef float real;
#define MULADD fmaf
#else
typedef double real;
#define MULADD fma
#endif

static __device__ int nearest(const real *x, const real *centres, int coords, int clusters) {
	real least = 1e30f;
	int found = 0;
	for (int c = 0; c < clusters; c++) {
		real distance = 0;
		for (int j = 0; j < coords; j++) {
			const real apart = x[j] - centres[(ss_i64)c * coords + j];
			distance = MULADD(apart, apart, distance);
		}
		if (distance < least) {
			least = distance;
			found = c;
		}
	}
	return found;
}

/* A block takes blockDim.x * points objects, neighbours to neighbouring threads. */
extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points) {
	__shared__ unsigned moved;
	if (threadIdx.x == 0)
		moved = 0;
	__syncthreads();
	for (int p = 0; p < points; p++) {
		const ss_i64 i = ((ss_i64)blockIdx.x * points + p) * blockDim.x + threadIdx.x;
		if (i >= n)
			break;
		const int c = nearest(objects + i * coords, centres, coords, clusters);
		if (membership[i] != c) {
			membership[i] = c;
			atomicAdd(&moved, 1u);
		}
	}
	__syncthreads();
	if (threadIdx.x == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
}
