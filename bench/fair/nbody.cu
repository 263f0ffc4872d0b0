// SPDX-License-Identifier: GPL-3.0-or-later
// The acceleration of n bodies by all others: a thread takes `bodies` of them and reads the others in tiles of a block, which it
// stages in shared memory or not.
enum { at_once = inner_unroll };

extern "C" __global__ void __launch_bounds__(block_size_x) nbody(float4 *acceleration, const float4 *body, int n) {
	const int first = blockIdx.x * block_size_x * bodies + threadIdx.x;
	float4 me[bodies], sum[bodies] = {{0}};
#if use_shared
	__shared__ float4 staged[block_size_x];
#endif
#pragma unroll
	for (int b = 0; b < bodies; b++)
		me[b] = body[first + b * block_size_x];
	for (int tile = 0; tile < n; tile += block_size_x) {
#if use_shared
		__syncthreads();
		staged[threadIdx.x] = body[tile + threadIdx.x];
		__syncthreads();
#else
		const float4 *staged = body + tile;
#endif
#pragma unroll at_once
		for (int i = 0; i < block_size_x; i++) {
			const float4 other = staged[i];
#pragma unroll
			for (int b = 0; b < bodies; b++) {
				const float dx = other.x - me[b].x, dy = other.y - me[b].y, dz = other.z - me[b].z;
				const float near = dx * dx + dy * dy + dz * dz + 1e-3f;
#if use_rsqrt
				const float inverse = rsqrtf(near);
#else
				const float inverse = 1 / sqrtf(near);
#endif
				const float force = other.w * inverse * inverse * inverse;
				sum[b].x += dx * force;
				sum[b].y += dy * force;
				sum[b].z += dz * force;
			}
		}
	}
#pragma unroll
	for (int b = 0; b < bodies; b++)
		acceleration[first + b * block_size_x] = sum[b];
}
