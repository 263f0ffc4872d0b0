/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects by columns, centres in shared memory: `chunk` clusters at a time, all of them where they fit. */
#include "distance.cuh"

extern "C" __global__ void assign(const real *objects, const real *centres, int *membership, ss_u64 *changed, ss_i64 n,
                                  int coords, int clusters, int points, int chunk) {
	SS_DYNAMIC(real, shared);
	__shared__ unsigned moved;
	moved_start(&moved);
	for (int p = 0; p < points; p++) {
		const ss_i64 i = object_of(p, points);
		const best b = nearest_staged(objects, i, n, centres, coords, clusters, chunk, p == 0, shared);
		if (i < n)
			label_write(membership, i, b.cluster, &moved);
	}
	moved_end(&moved, changed);
}
