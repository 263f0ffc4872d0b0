/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A two-dimensional convolution with the parameters of a known benchmark: each thread computes tile_size_x * tile_size_y
 * outputs, block_size_x and block_size_y apart. The input has a border of filter size - 1 to the right and below. */
#ifndef image_width
#define image_width 4096
#endif
#ifndef image_height
#define image_height 4096
#endif
enum {
	input_width = image_width + filter_width - 1,
	input_height = image_height + filter_height - 1,
	part_width = block_size_x * tile_size_x + filter_width - 1, /* what a block reads */
	part_height = block_size_y * tile_size_y + filter_height - 1,
	/* The lanes of a warp that are in the next row go on in the next banks where a row is as long as a block, modulo 32. */
	padding = use_padding ? (block_size_x % 32 + 32 - part_width % 32) % 32 : 0,
	stride = use_shmem ? part_width + padding : input_width
};

#if use_cmem
__constant__ float d_filter[filter_height * filter_width];
#define FILTER
#else
#define FILTER , const float *d_filter
#endif

__device__ static float input_at(const float *input, int y, int x) {
	if (y >= input_height || x >= input_width)
		return 0; /* of blocks that reach over the edge */
#if read_only
	return __ldg(&input[y * input_width + x]);
#else
	return input[y * input_width + x];
#endif
}

#if use_shmem
__device__ static void part_load(float *part, const float *input, int top, int left) {
	for (int y = threadIdx.y; y < part_height; y += block_size_y)
		for (int x = threadIdx.x; x < part_width; x += block_size_x)
			part[y * stride + x] = input_at(input, top + y, left + x);
	__syncthreads();
}
#endif

extern "C" __global__ void __launch_bounds__(block_size_x *block_size_y)
	convolution_kernel(float *output, const float *input FILTER) {
	const int left = blockIdx.x * (block_size_x * tile_size_x), top = blockIdx.y * (block_size_y * tile_size_y);
	float sums[tile_size_y][tile_size_x] = {{0}};
#if use_shmem
	__shared__ float part[part_height * stride];
	part_load(part, input, top, left);
#endif
	for (int i = 0; i < filter_height; i++)
		for (int j = 0; j < filter_width; j++)
#pragma unroll
			for (int b = 0; b < tile_size_y; b++)
#pragma unroll
				for (int a = 0; a < tile_size_x; a++) {
					const int y = threadIdx.y + b * block_size_y + i, x = threadIdx.x + a * block_size_x + j;
#if use_shmem
					sums[b][a] += part[y * stride + x] * d_filter[i * filter_width + j];
#else
					sums[b][a] += input_at(input, top + y, left + x) * d_filter[i * filter_width + j];
#endif
				}
	for (int b = 0; b < tile_size_y; b++)
		for (int a = 0; a < tile_size_x; a++) {
			const int y = top + threadIdx.y + b * block_size_y, x = left + threadIdx.x + a * block_size_x;
			if (y < image_height && x < image_width)
				output[y * image_width + x] = sums[b][a];
		}
}
