// SPDX-License-Identifier: GPL-3.0-or-later
// num_blocks partial sums of n floats: each thread strides over vectors, `loads` of them at once, then the block's threads add up.
template <int W> struct __align__(4 * W) floats {
	float at[W];
};
typedef floats<vector> part;

extern "C" __global__ void __launch_bounds__(block_size_x) reduction(float *sums, const float *x, int n) {
	__shared__ float staged[use_shuffle ? (block_size_x + 31) / 32 : block_size_x];
	const int me = threadIdx.x, step = num_blocks * block_size_x;
	float sum[loads] = {0}, total = 0;
	for (int i = blockIdx.x * block_size_x + me; i < n / vector; i += loads * step)
#pragma unroll
		for (int u = 0; u < loads; u++)
			if (i + u * step < n / vector) {
				const part now = ((const part *)x)[i + u * step];
#pragma unroll
				for (int w = 0; w < vector; w++)
					sum[u] += now.at[w];
			}
#pragma unroll
	for (int u = 0; u < loads; u++)
		total += sum[u];
#if use_shuffle
	for (int lanes = 16; lanes; lanes /= 2)
		total += __shfl_down_sync(0xffffffff, total, lanes);
	if (me % 32 == 0)
		staged[me / 32] = total;
	__syncthreads();
	if (me == 0) {
		for (int warp = 1; warp < block_size_x / 32; warp++)
			total += staged[warp];
		sums[blockIdx.x] = total;
	}
#else
	staged[me] = total;
	for (int half = block_size_x / 2; half; half /= 2) {
		__syncthreads();
		if (me < half)
			staged[me] += staged[me + half];
	}
	if (me == 0)
		sums[blockIdx.x] = staged[0];
#endif
}
