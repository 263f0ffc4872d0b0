/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by fused.cu, bounds.cu and tensor.cu: a warp assigns a tile of objects and adds them up at once.
 *
 * |x - c|^2 = |x|^2 + 2 (|c|^2 / 2 - xc), so the nearest centre is where the bracket is least: one fused operation a
 * coordinate, from the objects in registers and the centres in shared memory, which all lanes read at the same address. */
#ifndef KERNELS_KMEANS_CUDA_BRACKET_CUH
#define KERNELS_KMEANS_CUDA_BRACKET_CUH
#include "distance.cuh"

#if CLUSTERS < 256
typedef unsigned char label;
#else
typedef unsigned short label;
#endif

enum { D = COORDS, K = CLUSTERS };

static __device__ __forceinline__ void counts_clear(unsigned *count) {
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		count[c] = 0;
}

/* moved: how many labels this lane has changed. */
static __device__ __forceinline__ void changed_add(ss_u64 *changed, int moved, int lane) {
	for (int apart = 16; apart > 0; apart /= 2)
		moved += __shfl_xor_sync(0xffffffffu, moved, apart);
	if (lane == 0 && moved > 0)
		atomicAdd(changed, (ss_u64)moved);
}

/* Writes the sums of a block, in the order of its warps and their TABLES tables; at(e, table) is the place of number
 * e in a warp. */
template <int TABLE, int TABLES, int UNROLL, typename At>
static __device__ __forceinline__ void block_write(double *sums, unsigned *counts, const real *tables,
                                                   const unsigned *count, At at) {
	for (int e = (int)threadIdx.x; e < K * D; e += (int)blockDim.x) {
		double sum = 0;
		for (int warp = 0; warp < (int)blockDim.x / 32; warp++)
#pragma unroll UNROLL
			for (int table = 0; table < TABLES; table++)
				sum += tables[warp * TABLE + at(e, table)];
		sums[(ss_i64)blockIdx.x * (K * D) + e] = sum;
	}
	for (int c = (int)threadIdx.x; c < K; c += (int)blockDim.x)
		counts[(ss_i64)blockIdx.x * K + c] = count[c];
}

#ifdef GROUP
/* With GROUP clusters in a group a lane first finds the group with the nearest centre: one comparison for each
 * cluster and a few for each group, because the pipe for comparisons has half the rate of that for products of
 * floats. Floats are compared themselves, doubles by their upper halves, which have the same order except for ties;
 * the pipe for doubles then only has to multiply. The group is searched in full, and all of them are if two tie. */
enum { PACK = 16 / sizeof(real), CENTRE = (D + PACK) / PACK * PACK }; /* |c|^2 / 2 comes last */
/* Groups are 16 bytes apart, so that lanes that search different ones read from different banks. */
enum { FILLED = GROUP > 0 ? (K + GROUP - 1) / GROUP * GROUP : K, MEMBERS = GROUP > 0 ? GROUP : FILLED };
enum { GROUPS = FILLED / MEMBERS, APART = MEMBERS * CENTRE + (GROUP > 0 ? PACK : 0), GROUPS_AT_ONCE = 2 };

struct alignas(16) pack {
	real v[PACK];
};

/* Stores the centres with the sign and the half of the bracket, computed like on the host (single.c). Clusters that
 * only fill up the last group are far away. */
static __device__ void centres_stage(real *shared, const real *centres) {
	for (int c = (int)threadIdx.x; c < FILLED; c += (int)blockDim.x) {
		real *const to = shared + c / MEMBERS * APART + c % MEMBERS * CENTRE;
		double square = 0;
		for (int j = 0; j < D; j++) {
			const double x = c < K ? centres[c * D + j] : (real)0;
			to[j] = (real)-x;
			square = fma(x, x, square);
		}
		to[D] = c < K ? (real)(square * 0.5) : (real)1e29f;
	}
}

static __device__ __forceinline__ void centre_read(real (&centre)[CENTRE], const real *from) {
#pragma unroll
	for (int j = 0; j < CENTRE; j += PACK) {
		const pack some = *reinterpret_cast<const pack *>(from + j);
#pragma unroll
		for (int v = 0; v < PACK; v++)
			centre[j + v] = some.v[v];
	}
}

/* Every cluster; of equals the first. x.bracket(p, centre) is that of object p of the lane. */
template <int UNROLL, int P, typename X>
static __device__ __forceinline__ void search_all(int (&found)[P], const X &x, const real *centres) {
	real least[P];
#pragma unroll
	for (int p = 0; p < P; p++) {
		least[p] = (real)1e30f;
		found[p] = 0;
	}
	for (int group = 0; group < GROUPS; group++)
#pragma unroll UNROLL
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, centres + group * APART + m * CENTRE);
#pragma unroll
			for (int p = 0; p < P; p++) {
				const real value = x.bracket(p, centre);
				if (value < least[p]) {
					least[p] = value;
					found[p] = group * MEMBERS + m;
				}
			}
		}
}

static __device__ __forceinline__ float key(real x) {
#if TYPE == 32
	return x;
#else
	return __int_as_float(__double2hiint(x));
#endif
}

/* The group of each object and its least key; true where keys of doubles tied. */
template <int P, typename X>
static __device__ __forceinline__ bool groups_compare(int (&found)[P], float (&least)[P], const X &x,
                                                      const real *centres) {
	bool tie = false;
#pragma unroll
	for (int p = 0; p < P; p++) {
		least[p] = 3e38f;
		found[p] = 0;
	}
#pragma unroll GROUPS_AT_ONCE
	for (int group = 0; group < GROUPS; group++) {
		float own[P];
#pragma unroll
		for (int m = 0; m < MEMBERS; m++) {
			real centre[CENTRE];
			centre_read(centre, centres + group * APART + m * CENTRE);
#pragma unroll
			for (int p = 0; p < P; p++) {
				const float value = key(x.bracket(p, centre));
				own[p] = m == 0 ? value : fminf(own[p], value);
			}
		}
#pragma unroll
		for (int p = 0; p < P; p++) {
			if (TYPE == 64)
				tie |= own[p] == least[p];
			found[p] = own[p] < least[p] ? group : found[p];
			least[p] = fminf(own[p], least[p]);
		}
	}
	return tie;
}

/* The first member of a group with its least bracket. The bracket of floats is known, and is the same when computed
 * again. */
template <typename X>
static __device__ __forceinline__ int member(const X &x, int p, const real *rows, float known) {
	real least = 0;
	int found = MEMBERS - 1;
#pragma unroll
	for (int m = MEMBERS - (TYPE == 32) - 1; m >= 0; m--) {
		real centre[CENTRE];
		centre_read(centre, rows + m * CENTRE);
		const real value = x.bracket(p, centre);
		if (TYPE == 32)
			found = value == known ? m : found;
		else if (m == MEMBERS - 1 || value <= least) {
			least = value;
			found = m;
		}
	}
	return found;
}

/* Finds the cluster of each object; UNROLL: clusters at once if all are compared. */
template <int UNROLL, int P, typename X>
static __device__ __forceinline__ void search(int (&found)[P], const X &x, const real *centres) {
	float least[P];
	if (GROUP == 0 || groups_compare(found, least, x, centres)) {
		search_all<UNROLL>(found, x, centres);
		return;
	}
#pragma unroll
	for (int p = 0; p < P; p++)
		found[p] = found[p] * MEMBERS + member(x, p, centres + found[p] * APART, least[p]);
}
#endif

#endif
