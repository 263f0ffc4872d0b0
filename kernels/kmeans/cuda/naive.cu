/* SPDX-License-Identifier: BSD-3-Clause */
/* The textbook's assignment: an array of objects, a thread an object, everything from global memory. */
#include "distance.cuh"

extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points) {
	__shared__ unsigned moved;
	moved_start(&moved);
	__syncthreads();
	for (int p = 0; p < points; p++) {
		const ss_i64 i = object_of(p, points);
		best b = best_none();
		if (i >= n)
			break;
		compare<ss_i64>(&b, objects + i * coords, 0, 1, centres, coords, 1, coords, 0, clusters);
		label_write(membership, i, b.cluster, &moved);
	}
	moved_end(&moved, changed);
}
