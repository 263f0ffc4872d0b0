/* SPDX-License-Identifier: BSD-3-Clause */
/* Like all_gpu.cu, but a block adds in shared memory first and writes its table of sums once; means.cu adds up those of
 * all blocks. Blocks stay and take every gridDim-th piece of the objects. */
#include "distance.cuh"

/* Shared memory: sums, counts (an even number of words) and centres. */
extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points, double *sums, unsigned *counts) {
	SS_DYNAMIC(double, own);
	__shared__ unsigned moved;
	const int entries = clusters * coords;
	unsigned *const count = reinterpret_cast<unsigned *>(own + entries);
	real *const shared = reinterpret_cast<real *>(own + entries + (clusters + 1) / 2);
	moved_start(&moved);
	for (int e = (int)threadIdx.x; e < entries; e += (int)blockDim.x)
		own[e] = 0;
	for (int c = (int)threadIdx.x; c < clusters; c += (int)blockDim.x)
		count[c] = 0;
	stage(shared, centres, entries);
	const ss_i64 piece = (ss_i64)blockDim.x * points;
	for (ss_i64 base = blockIdx.x * piece; base < n; base += gridDim.x * piece)
		for (ss_i64 i = base + threadIdx.x; i < min(base + piece, n); i += blockDim.x) {
			best b = best_none();
			compare(&b, objects, i, n, shared, coords, 1, coords, 0, clusters);
			for (int j = 0; j < coords; j++)
				atomicAdd(&own[b.cluster * coords + j], (double)objects[j * n + i]);
			atomicAdd(&count[b.cluster], 1u);
			label_write(membership, i, b.cluster, &moved);
		}
	__syncthreads();
	for (int e = (int)threadIdx.x; e < entries; e += (int)blockDim.x)
		sums[(ss_i64)blockIdx.x * entries + e] = own[e];
	for (int c = (int)threadIdx.x; c < clusters; c += (int)blockDim.x)
		counts[(ss_i64)blockIdx.x * clusters + c] = count[c];
	moved_end(&moved, changed);
}
