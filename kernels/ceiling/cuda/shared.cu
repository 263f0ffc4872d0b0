/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading shared memory: 16 bytes a thread, neighbours beside each other, so that no two want one bank at a time. Word i of
 * a block's memory is i. In each of `turns` (a multiple of blockDim.x, a power of two) a thread reads ROWS places, and
 * begins one place on the next time: after blockDim.x turns it has read all. */
#include "sweetspot.cuh"

enum { ROWS = 8 };

extern "C" __global__ void __launch_bounds__(1024) ceiling_shared(unsigned *out, int turns) {
	SS_DYNAMIC(uint4, rows);
	const unsigned width = blockDim.x, self = threadIdx.x;
	for (unsigned i = self; i < ROWS * width; i += width)
		rows[i] = make_uint4(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
	__syncthreads();
	uint4 sum = make_uint4(0, 0, 0, 0);
	unsigned at = self;
#pragma unroll 4
	for (int turn = 0; turn < turns; turn++) {
		uint4 got[ROWS];
#pragma unroll
		for (int row = 0; row < ROWS; row++)
			got[row] = rows[row * width + at];
#pragma unroll
		for (int row = 0; row < ROWS; row++) {
			sum.x += got[row].x;
			sum.y += got[row].y;
			sum.z += got[row].z;
			sum.w += got[row].w;
		}
		at = (at + 1) & (width - 1);
	}
	out[blockIdx.x * width + self] = sum.x + sum.y + sum.z + sum.w;
}
