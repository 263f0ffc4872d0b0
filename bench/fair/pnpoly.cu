// SPDX-License-Identifier: GPL-3.0-or-later
// Which of n points lie in a polygon of VERTICES corners: each edge that a ray to the right crosses turns the answer. A thread
// takes tile_size points, block_size_x apart; the methods write the same two conditions in other ways.
enum { VERTICES = 600 };
__constant__ float2 d_vertices[VERTICES];

static __device__ __forceinline__ bool between(float from, float y, float to) {
#if between_method == 0
	return (from > y) != (to > y);
#elif between_method == 1
	return (from > y && to <= y) || (from <= y && to > y);
#elif between_method == 2
	return (((from - y) > 0) ^ ((to - y) > 0)) != 0;
#else
	return (from - y) * (to - y) <= 0 && (from > y) != (to > y);
#endif
}

extern "C" __global__ void __launch_bounds__(block_size_x) pnpoly(int *inside, const float2 *points, int n) {
	const int first = blockIdx.x * block_size_x * tile_size + threadIdx.x;
	float2 p[tile_size];
	int in[tile_size] = {0};
#pragma unroll
	for (int t = 0; t < tile_size; t++)
		if (first + t * block_size_x < n)
			p[t] = points[first + t * block_size_x];
	float2 from = d_vertices[VERTICES - 1];
	for (int v = 0; v < VERTICES; v++) {
		const float2 to = d_vertices[v];
		const float slope = (from.x - to.x) / (from.y - to.y);
#pragma unroll
		for (int t = 0; t < tile_size; t++) {
			const bool crosses = between(from.y, p[t].y, to.y), left = p[t].x < slope * (p[t].y - to.y) + to.x;
#if use_method == 0
			if (crosses && left)
				in[t] = !in[t];
#elif use_method == 1
			in[t] ^= crosses & left;
#else
			in[t] += crosses && left;
#endif
		}
		from = to;
	}
#pragma unroll
	for (int t = 0; t < tile_size; t++)
		if (first + t * block_size_x < n)
			inside[first + t * block_size_x] = in[t] & 1;
}
