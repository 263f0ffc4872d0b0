/* SPDX-License-Identifier: BSD-3-Clause */
/* New centres: the sums of all parts, added up in the same order each time, and their means.
 * A cluster without objects keeps its centre. */
#include "distance.cuh"

enum { ENTRIES = 32, LANES = 32 };

/* Blocks of ENTRIES x LANES threads: 32 numbers of the centres, each of which 32 threads add up. */
extern "C" __global__ void means(real *centres, const double *sums, const unsigned *counts, int parts, int coords,
                                 int clusters) {
	__shared__ double sum[LANES][ENTRIES];
	__shared__ unsigned count[LANES][ENTRIES];
	const int entries = coords * clusters, e = (int)(blockIdx.x * ENTRIES + threadIdx.x), c = e / coords;
	double own = 0;
	unsigned members = 0;
	if (e < entries)
#pragma unroll 4
		for (int part = (int)threadIdx.y; part < parts; part += LANES) {
			own += sums[(ss_i64)part * entries + e];
			members += counts[(ss_i64)part * clusters + c];
		}
	sum[threadIdx.y][threadIdx.x] = own;
	count[threadIdx.y][threadIdx.x] = members;
	for (unsigned half = LANES / 2; half > 0; half /= 2) {
		__syncthreads();
		if (threadIdx.y < half) {
			sum[threadIdx.y][threadIdx.x] += sum[threadIdx.y + half][threadIdx.x];
			count[threadIdx.y][threadIdx.x] += count[threadIdx.y + half][threadIdx.x];
		}
	}
	if (threadIdx.y == 0 && e < entries && count[0][threadIdx.x] > 0)
		centres[e] = (real)grid_nearest(sum[0][threadIdx.x] / (double)count[0][threadIdx.x]);
}
