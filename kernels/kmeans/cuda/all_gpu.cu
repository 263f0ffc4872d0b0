/* SPDX-License-Identifier: BSD-3-Clause */
/* As shared.cu, and each object is added to its cluster's sums in global memory by atomic operations; means.cu makes the
 * centres of them. Sums are doubles, whatever the objects are, and changes are counted in whole numbers. */
#include "sweetspot.cuh"
#if TYPE == 32
typedef float real;
#define MULADD fmaf
#else
typedef double real;
#define MULADD fma
#endif

struct best {
	real least;
	int cluster;
};

/* One object and the clusters first .. end - 1, whose centres are in shared memory. */
static __device__ __forceinline__ void compare(best *b, const real *objects, ss_i64 i, ss_i64 n, const real *centres,
                                               int coords, int first, int end) {
	for (int c = first; c < end; c++) {
		const real *centre = centres + (c - first) * coords;
		real distance = 0;
		for (int j = 0; j < coords; j++) {
			const real apart = objects[j * n + i] - centre[j];
			distance = MULADD(apart, apart, distance);
		}
		if (distance < b->least) {
			b->least = distance;
			b->cluster = c;
		}
	}
}

/* All threads of the block copy, however many there are. */
static __device__ __forceinline__ void stage(real *shared, const real *centres, int count) {
	__syncthreads();
	for (int e = (int)threadIdx.x; e < count; e += (int)blockDim.x)
		shared[e] = centres[e];
	__syncthreads();
}

static __device__ __forceinline__ void add(double *sums, unsigned *counts, const real *objects, ss_i64 i, ss_i64 n,
                                           int coords, int c) {
	for (int j = 0; j < coords; j++)
		atomicAdd(&sums[(ss_i64)c * coords + j], (double)objects[j * n + i]);
	atomicAdd(&counts[c], 1u);
}

extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points, int chunk, double *sums, unsigned *counts) {
	SS_DYNAMIC(real, shared);
	__shared__ unsigned moved;
	if (threadIdx.x == 0)
		moved = 0;
	for (int p = 0; p < points; p++) {
		const ss_i64 i = ((ss_i64)blockIdx.x * points + p) * blockDim.x + threadIdx.x;
		best b = {(real)1e30f, 0};
		for (int first = 0; first < clusters; first += chunk) {
			const int end = min(first + chunk, clusters);
			if (p == 0 || chunk < clusters)
				stage(shared, centres + (ss_i64)first * coords, (end - first) * coords);
			if (i < n)
				compare(&b, objects, i, n, shared, coords, first, end);
		}
		if (i < n) {
			add(sums, counts, objects, i, n, coords, b.cluster);
			if (membership[i] != b.cluster) {
				membership[i] = b.cluster;
				atomicAdd(&moved, 1u);
			}
		}
	}
	__syncthreads();
	if (threadIdx.x == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
}
