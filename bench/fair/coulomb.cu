// SPDX-License-Identifier: GPL-3.0-or-later
// The potential of ATOMS charges on a grid of n x n x n points: direct Coulomb summation, where a thread computes z_iterations
// points above each other, whose distance to an atom differs in z alone.
enum { n = 256, ATOMS = 256, at_once = inner_unroll };
__constant__ float4 atoms[ATOMS];

extern "C" __global__ void __launch_bounds__(block_size_x *block_size_y) coulomb(float *energy) {
	const int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
	const int z = blockIdx.z * z_iterations;
	const float spacing = 1.0f / n;
	float sums[z_iterations] = {0};
#pragma unroll at_once
	for (int a = 0; a < ATOMS; a++) {
		const float4 atom = atoms[a];
		const float dx = x * spacing - atom.x, dy = y * spacing - atom.y, plane = dx * dx + dy * dy + 1e-4f;
#pragma unroll
		for (int i = 0; i < z_iterations; i++) {
			const float dz = (z + i) * spacing - atom.z;
			sums[i] += atom.w * rsqrtf(plane + dz * dz);
		}
	}
#pragma unroll
	for (int i = 0; i < z_iterations; i++)
		energy[((z + i) * n + y) * n + x] = sums[i];
}
