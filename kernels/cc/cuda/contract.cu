/* SPDX-License-Identifier: BSD-3-Clause */
/* Long chains are contracted: each vertex points to its smallest neighbour, as in Boruvka's algorithm, which leaves a third
 * of a chain's vertices as roots. These are numbered without gaps, in their order, and the edges that are left link the
 * numbers. What is read at random is then small enough for the L2 cache: a bit for each vertex that says whether it is a
 * root, with the number of roots before it, a third of the labels, and in the end a bit for each vertex of the largest
 * component (which Sutton, Ben-Nun and Barak's Afforest skips; see forest.cu). */
#define LINK 0
#include "trees.cuh"

enum { NOBODY = 0x7fffffff };

/* The first pass: label[v] is v's smallest neighbour, or v. The other edges to smaller vertices go to the list, from the
 * vertex that v points to. The words of `ranks` get their bits. */
template <class O>
static __device__ __forceinline__ void contract(const O *first, const int *target, int n, int *label, uint2 *ranks,
                                                int2 *list, unsigned *listed) {
	const ss_i64 base = (ss_i64)blockIdx.x * blockDim.x * EACH + threadIdx.x;
	O begin[EACH], end[EACH];
	int above[EACH], second[EACH];
	unsigned count = 0;
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		begin[e] = v < n ? first[v] : 0;
		end[e] = v < n ? first[v + 1] : 0;
	}
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		above[e] = begin[e] < end[e] ? target[begin[e]] : NOBODY;
		second[e] = begin[e] + 1 < end[e] ? target[begin[e] + 1] : NOBODY;
	}
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		const bool root = v < n && above[e] > v;
		const unsigned roots = __ballot_sync(0xffffffffu, root);
		if (v < n)
			label[v] = root ? (int)v : above[e];
		if (v < n && threadIdx.x % 32 == 0)
			ranks[v / 32].x = roots;
		second[e] = v < n && second[e] < v ? second[e] : NOBODY;
		count += second[e] != NOBODY;
		if (second[e] != NOBODY)
			for (O i = begin[e] + 2; i < end[e] && target[i] < v; i++)
				count++;
	}
	unsigned place = list_reserve(count, listed);
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		if (second[e] == NOBODY)
			continue;
		list[place++] = make_int2(above[e], second[e]);
		for (O i = begin[e] + 2; i < end[e] && target[i] < v; i++)
			list[place++] = make_int2(above[e], target[i]);
	}
}

extern "C" __global__ void contract_32(const unsigned *first, const int *target, int n, int *label, uint2 *ranks, int2 *list,
                                       unsigned *listed) {
	contract(first, target, n, label, ranks, list, listed);
}

extern "C" __global__ void contract_64(const ss_u64 *first, const int *target, int n, int *label, uint2 *ranks, int2 *list,
                                       unsigned *listed) {
	contract(first, target, n, label, ranks, list, listed);
}

/* ---- the roots' numbers ---- */

enum { RANK_WORDS = 4 /* of a thread */ };

/* The roots in this block's words. */
extern "C" __global__ void roots_count(const uint2 *ranks, int words, unsigned *counts) {
	__shared__ unsigned sum;
	if (threadIdx.x == 0)
		sum = 0;
	__syncthreads();
	unsigned own = 0;
	for (int i = 0; i < RANK_WORDS; i++) {
		const int w = (int)((blockIdx.x * RANK_WORDS + i) * blockDim.x + threadIdx.x);
		own += w < words ? __popc(ranks[w].x) : 0;
	}
	own = __reduce_add_sync(0xffffffffu, own);
	if (threadIdx.x % 32 == 0)
		atomicAdd(&sum, own);
	__syncthreads();
	if (threadIdx.x == 0)
		counts[blockIdx.x] = sum;
}

/* Blocks of the same size: the number of roots before each word; each root is its own parent, and knows its vertex. */
extern "C" __global__ void roots_number(uint2 *ranks, int words, const unsigned *counts, int *parent, int *vertex,
                                        unsigned *roots) {
	__shared__ unsigned before;
	const unsigned lane = threadIdx.x % 32;
	unsigned own = 0;
	if (threadIdx.x == 0)
		before = 0;
	__syncthreads();
	for (unsigned b = threadIdx.x; b < blockIdx.x; b += blockDim.x)
		own += counts[b];
	own = __reduce_add_sync(0xffffffffu, own);
	if (lane == 0)
		atomicAdd(&before, own);
	for (int i = 0; i < RANK_WORDS; i++) {
		const int w = (int)((blockIdx.x * RANK_WORDS + i) * blockDim.x + threadIdx.x);
		const unsigned bits = w < words ? ranks[w].x : 0;
		const unsigned at = list_reserve(__popc(bits), &before);
		if (w < words)
			ranks[w].y = at;
		for (int turn = 0; turn < 32; turn++) {
			const unsigned some = __shfl_sync(0xffffffffu, bits, turn), from = __shfl_sync(0xffffffffu, at, turn);
			const int number = (int)(from + __popc(some & ((1u << lane) - 1)));
			if (some >> lane & 1) {
				parent[number] = number;
				vertex[number] = (w - (int)lane + turn) * 32 + (int)lane;
			}
		}
		__syncthreads();
	}
	if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
		*roots = before;
}

/* ---- what is left, among the roots ---- */

static __device__ __forceinline__ bool has(unsigned bits, int v) {
	return bits >> (v & 31) & 1;
}

static __device__ __forceinline__ int number_of(uint2 rank, int v) {
	return (int)(rank.y + __popc(rank.x & ((1u << (v & 31)) - 1)));
}

/* Links the roots' numbers; 2 * EACH searches go on at once. */
extern "C" __global__ void list_link(const int *label, const uint2 *ranks, const int2 *list, const unsigned *listed,
                                     int *parent) {
	const unsigned count = *listed, step = gridDim.x * blockDim.x;
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step * EACH) {
		int at[2 * EACH];
		uint2 rank[2 * EACH];
#pragma unroll
		for (int e = 0; e < EACH; e++) {
			const int2 pair = i + e * step < count ? list[i + e * step] : make_int2(0, 0);
			at[2 * e] = pair.x, at[2 * e + 1] = pair.y;
		}
#pragma unroll
		for (int e = 0; e < 2 * EACH; e++)
			rank[e] = ranks[at[e] >> 5];
		for (bool below = true; below;) {
			below = false;
#pragma unroll
			for (int e = 0; e < 2 * EACH; e++)
				if (!has(rank[e].x, at[e])) {
					at[e] = label[at[e]];
					rank[e] = ranks[at[e] >> 5];
					below = true;
				}
		}
#pragma unroll
		for (int e = 0; e < EACH; e++)
			link(parent, number_of(rank[2 * e], at[2 * e]), number_of(rank[2 * e + 1], at[2 * e + 1]));
	}
}

/* vertex[i] becomes the label of root number i. A component's own root keeps its vertex, which is the label. */
extern "C" __global__ void roots_settle(int *parent, int *vertex, const unsigned *roots) {
	const unsigned count = *roots, step = gridDim.x * blockDim.x;
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		const int mine = parent[i];
		int above = mine, next;
		while ((next = parent[above]) != above)
			above = next;
		if (above != mine)
			parent[i] = above;
		if (above != (int)i)
			vertex[i] = vertex[above];
	}
}

extern "C" __global__ void giant_find(const int *vertex, const unsigned *roots, int samples, int *giant) {
	label_frequent(vertex, (int)*roots, samples, giant);
}

/* The bits of the roots in the largest component. */
extern "C" __global__ void giant_mark(const uint2 *ranks, int words, const int *vertex, const int *giant, unsigned *known) {
	const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x), label = *giant;
	if (w >= words)
		return;
	const uint2 rank = ranks[w];
	unsigned bits = rank.x, at = rank.y, found = 0;
	for (; bits; bits &= bits - 1)
		if (vertex[at++] == label)
			found |= bits & -bits;
	known[w] = found;
}

/* The label of a vertex that is not known to be in the largest component. A label that is final already is a root, too. */
static __device__ int label_of(const int *label, const uint2 *ranks, const int *vertex, int v) {
	uint2 rank = ranks[v >> 5];
	while (!has(rank.x, v)) {
		v = label_load(&label[v]);
		rank = ranks[v >> 5];
	}
	return vertex[number_of(rank, v)];
}

/* The last pass. Pointers lead to smaller vertices, and blocks start in order: so most vertices point to one whose bit in
 * `known` is there already if it belongs there. */
extern "C" __global__ void labels_finish(int *label, int n, const uint2 *ranks, const int *vertex, const int *giant,
                                         unsigned *known) {
	const ss_i64 base = (ss_i64)blockIdx.x * blockDim.x * EACH + threadIdx.x;
	const int largest = *giant;
	int above[EACH];
	unsigned own[EACH], bits[EACH];
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		above[e] = v < n ? label[v] : 0;
		own[e] = v < n ? known[v / 32] : 0;
	}
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const int v = (int)(base + e * (int)blockDim.x);
		bits[e] = own[e];
		if (v < n && !has(own[e], v) && above[e] != v)
			bits[e] = *(volatile unsigned *)(known + (above[e] >> 5));
		else
			above[e] = v;
	}
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		const bool inside = v < n && has(bits[e], above[e]);
		const unsigned all = __ballot_sync(0xffffffffu, inside);
		if (v < n && threadIdx.x % 32 == 0)
			known[v / 32] = all;
		if (v < n)
			label[v] = inside ? largest : label_of(label, ranks, vertex, above[e]);
	}
}
