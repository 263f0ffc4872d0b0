/* SPDX-License-Identifier: BSD-3-Clause */
/* Like shared.cu, but each object is added to its cluster's sums in global memory by atomic operations; means.cu turns
 * them into centres. Sums are doubles, whatever the objects are, and changes are counted in whole numbers. */
#include "distance.cuh"

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
	moved_start(&moved);
	for (int p = 0; p < points; p++) {
		const ss_i64 i = object_of(p, points);
		const best b = nearest_staged(objects, i, n, centres, coords, clusters, chunk, p == 0, shared);
		if (i < n) {
			add(sums, counts, objects, i, n, coords, b.cluster);
			label_write(membership, i, b.cluster, &moved);
		}
	}
	moved_end(&moved, changed);
}
