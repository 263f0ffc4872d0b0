// SPDX-License-Identifier: BSD-3-Clause
// y += a x, and the block that it ran with. NVRTC gets the values of the specification, or of a profile.
#ifndef block_size_x
#define block_size_x 128
#endif
#ifndef PER_THREAD
#define PER_THREAD 1
#endif
extern "C" __global__ void saxpy(float *y, const float *x, float a, int n, int *used) {
	for (int k = 0; k < PER_THREAD; k++) {
		int i = (blockIdx.x * PER_THREAD + k) * block_size_x + threadIdx.x;
		if (i < n)
			y[i] += a * x[i];
		if (i == 0)
			*used = block_size_x;
	}
}
