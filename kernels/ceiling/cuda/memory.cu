/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidths: 16 bytes a thread and load, eight loads on their way at once. Loads pass the L1 cache by, so that an array
 * that fits in L2 is read from there. `count` is in units of 16 bytes. */
#include "sweetspot.cuh"

enum { AT_ONCE = 8 };

static __device__ __forceinline__ size_t self() {
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}
static __device__ __forceinline__ size_t team() {
	return (size_t)gridDim.x * blockDim.x;
}

/* Word i is i; real number i of array a is a + i % 1021. */
extern "C" __global__ void ceiling_fill_words(ss_u64 *to, size_t count) {
	for (size_t i = self(); i < 2 * count; i += team())
		to[i] = i;
}
extern "C" __global__ void ceiling_fill_reals(double *to, size_t count, int array) {
	for (size_t i = self(); i < 2 * count; i += team())
		to[i] = (double)(array + (int)(i % 1021));
}

/* out[t] is the sum of what thread t read. */
extern "C" __global__ void __launch_bounds__(1024) ceiling_read(ss_u64 *out, const ulonglong2 *from, size_t count,
                                                                int passes) {
	ss_u64 sum = 0;
	for (int pass = 0; pass < passes; pass++) {
		size_t i = self();
		for (; i + (AT_ONCE - 1) * team() < count; i += AT_ONCE * team()) {
			ulonglong2 got[AT_ONCE];
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				got[u] = __ldcg(&from[i + u * team()]);
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				sum += got[u].x + got[u].y;
		}
		for (; i < count; i += team()) {
			const ulonglong2 got = __ldcg(&from[i]);
			sum += got.x + got.y;
		}
	}
	out[self()] = sum;
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_copy(ulonglong2 *to, const ulonglong2 *from, size_t count,
                                                                int passes) {
	for (int pass = 0; pass < passes; pass++) {
		size_t i = self();
		for (; i + (AT_ONCE - 1) * team() < count; i += AT_ONCE * team()) {
			ulonglong2 got[AT_ONCE];
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				got[u] = __ldcg(&from[i + u * team()]);
#pragma unroll
			for (int u = 0; u < AT_ONCE; u++)
				to[i + u * team()] = got[u];
		}
		for (; i < count; i += team())
			to[i] = __ldcg(&from[i]);
	}
}

extern "C" __global__ void __launch_bounds__(1024) ceiling_triad(double2 *to, const double2 *b, const double2 *c,
                                                                 double factor, size_t count, int passes) {
	for (int pass = 0; pass < passes; pass++) {
		size_t i = self();
		for (; i + (AT_ONCE / 2 - 1) * team() < count; i += AT_ONCE / 2 * team()) {
			double2 x[AT_ONCE / 2], y[AT_ONCE / 2];
#pragma unroll
			for (int u = 0; u < AT_ONCE / 2; u++) {
				x[u] = __ldcg(&b[i + u * team()]);
				y[u] = __ldcg(&c[i + u * team()]);
			}
#pragma unroll
			for (int u = 0; u < AT_ONCE / 2; u++)
				to[i + u * team()] = make_double2(x[u].x + factor * y[u].x, x[u].y + factor * y[u].y);
		}
		for (; i < count; i += team()) {
			const double2 x = __ldcg(&b[i]), y = __ldcg(&c[i]);
			to[i] = make_double2(x.x + factor * y.x, x.y + factor * y.y);
		}
	}
}
