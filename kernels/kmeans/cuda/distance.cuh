/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the assignment kernels: numbers, the nearest centre by |x - c|^2, and the count of labels that change. */
#ifndef KERNELS_KMEANS_CUDA_DISTANCE_CUH
#define KERNELS_KMEANS_CUDA_DISTANCE_CUH
#include "sweetspot.cuh"

#if TYPE == 32
typedef float real;
#define MULADD fmaf
#else
typedef double real;
#define MULADD fma
#endif

/* A mean on the grid of ../kmeans.h. */
enum { GRID = 1 << 21 };
static __device__ __forceinline__ double grid_nearest(double x) {
	return (double)(ss_i64)(x * GRID + 0.5) / GRID;
}

struct best {
	real least;
	int cluster;
};

static __device__ __forceinline__ best best_none() {
	return {(real)1e30f, 0};
}

/* The first of equals. */
static __device__ __forceinline__ void best_keep(best *b, real distance, int cluster) {
	if (distance < b->least) {
		b->least = distance;
		b->cluster = cluster;
	}
}

/* Compares an object with the clusters first .. end - 1; of equals the first wins. Neighbouring coordinates of the object
 * are x_step numbers apart, those of a centre `step`, and neighbouring centres `row`; centres begins with cluster
 * `first`. */
template <typename Step>
static __device__ __forceinline__ void compare(best *b, const real *x, ss_i64 i, ss_i64 x_step, const real *centres, Step row,
                                               Step step, int coords, int first, int end) {
	for (int c = first; c < end; c++) {
		const real *const centre = centres + (c - first) * row;
		real distance = 0;
		for (int j = 0; j < coords; j++) {
			const real apart = x[j * x_step + i] - centre[j * step];
			distance = MULADD(apart, apart, distance);
		}
		best_keep(b, distance, c);
	}
}

/* All threads of the block copy, however many there are. */
static __device__ __forceinline__ void stage(real *shared, const real *centres, int count) {
	__syncthreads();
	for (int e = (int)threadIdx.x; e < count; e += (int)blockDim.x)
		shared[e] = centres[e];
	__syncthreads();
}

/* A block takes blockDim.x * points objects, neighbours to neighbouring threads. */
static __device__ __forceinline__ ss_i64 object_of(int point, int points) {
	return ((ss_i64)blockIdx.x * points + point) * blockDim.x + threadIdx.x;
}

/* Centres go through shared memory, `chunk` clusters at a time. Where all of them fit, only the block's `first` object
 * brings them. */
static __device__ __forceinline__ best nearest_staged(const real *objects, ss_i64 i, ss_i64 n, const real *centres,
                                                      int coords, int clusters, int chunk, bool first, real *shared) {
	best b = best_none();
	for (int from = 0; from < clusters; from += chunk) {
		const int end = min(from + chunk, clusters);
		if (first || chunk < clusters)
			stage(shared, centres + (ss_i64)from * coords, (end - from) * coords);
		if (i < n)
			compare(&b, objects, i, n, shared, coords, 1, coords, from, end);
	}
	return b;
}

/* `moved` is the block's, in shared memory: moved_start, a barrier, label_write, moved_end. */
static __device__ __forceinline__ void moved_start(unsigned *moved) {
	if (threadIdx.x == 0)
		*moved = 0;
}

static __device__ __forceinline__ void label_write(int *membership, ss_i64 i, int cluster, unsigned *moved) {
	if (membership[i] != cluster) {
		membership[i] = cluster;
		atomicAdd(moved, 1u);
	}
}

static __device__ __forceinline__ void moved_end(const unsigned *moved, ss_u64 *changed) {
	__syncthreads();
	if (threadIdx.x == 0 && *moved > 0)
		atomicAdd(changed, (ss_u64)*moved);
}

#endif
