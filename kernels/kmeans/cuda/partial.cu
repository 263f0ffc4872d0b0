/* SPDX-License-Identifier: BSD-3-Clause */
/* As all_gpu.cu, but a block adds in shared memory first, and writes its table of sums once; means.cu adds the blocks' up.
 * Blocks stay and take every gridDim-th piece of the objects. */
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

/* Shared memory: sums, counts (an even number of words) and centres. */
extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points, double *sums, unsigned *counts) {
	SS_DYNAMIC(double, own);
	__shared__ unsigned moved;
	const int entries = clusters * coords;
	unsigned *const count = reinterpret_cast<unsigned *>(own + entries);
	real *const shared = reinterpret_cast<real *>(own + entries + (clusters + 1) / 2);
	if (threadIdx.x == 0)
		moved = 0;
	for (int e = (int)threadIdx.x; e < entries; e += (int)blockDim.x)
		own[e] = 0;
	for (int c = (int)threadIdx.x; c < clusters; c += (int)blockDim.x)
		count[c] = 0;
	stage(shared, centres, entries);
	const ss_i64 piece = (ss_i64)blockDim.x * points;
	for (ss_i64 base = blockIdx.x * piece; base < n; base += gridDim.x * piece)
		for (ss_i64 i = base + threadIdx.x; i < min(base + piece, n); i += blockDim.x) {
			best b = {(real)1e30f, 0};
			compare(&b, objects, i, n, shared, coords, 0, clusters);
			for (int j = 0; j < coords; j++)
				atomicAdd(&own[b.cluster * coords + j], (double)objects[j * n + i]);
			atomicAdd(&count[b.cluster], 1u);
			if (membership[i] != b.cluster) {
				membership[i] = b.cluster;
				atomicAdd(&moved, 1u);
			}
		}
	__syncthreads();
	for (int e = (int)threadIdx.x; e < entries; e += (int)blockDim.x)
		sums[(ss_i64)blockIdx.x * entries + e] = own[e];
	for (int c = (int)threadIdx.x; c < clusters; c += (int)blockDim.x)
		counts[(ss_i64)blockIdx.x * clusters + c] = count[c];
	if (threadIdx.x == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
}
