/* SPDX-License-Identifier: BSD-3-Clause */
/* Long chains are contracted: each vertex points to its smallest neighbour, as in Boruvka's algorithm, which leaves a third
 * of a chain's vertices as roots. These are numbered without gaps, in their order, and the edges that are left link the
 * numbers. What is read at random is then small enough for the L2 cache: a bit for each vertex that says whether it is a
 * root, with the number of roots before it, a third of the labels, and in the end a bit for each vertex of the largest
 * component (which Sutton, Ben-Nun and Barak's Afforest skips; see forest.cu). */
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
	unsigned own = 0;
	if (threadIdx.x == 0)
		sum = 0;
	for (int i = 0; i < RANK_WORDS; i++) {
		const int w = (int)((blockIdx.x * RANK_WORDS + i) * blockDim.x + threadIdx.x);
		own += w < words ? __popc(ranks[w].x) : 0;
	}
	list_reserve(own, &sum);
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
	for (unsigned b = threadIdx.x; b < blockIdx.x; b += blockDim.x)
		own += counts[b];
	list_reserve(own, &before);
	__syncthreads();
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

/* The pairs' roots, by their numbers; 2 * EACH searches go on at once. */
extern "C" __global__ void list_number(const int *label, const uint2 *ranks, int2 *list, const unsigned *listed) {
	const unsigned count = *listed, step = gridDim.x * blockDim.x;
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step * EACH) {
		int at[2 * EACH];
		uint2 rank[2 * EACH];
#pragma unroll
		for (int e = 0; e < EACH; e++) {
			const int2 pair = i + e * step < count ? __ldcs(list + i + e * step) : make_int2(0, 0);
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
			if (i + e * step < count)
				__stcs(list + i + e * step, make_int2(number_of(rank[2 * e], at[2 * e]),
				                                      number_of(rank[2 * e + 1], at[2 * e + 1])));
	}
}

/* Rem's algorithm (see forest.cu), as long as one of a pair is in window w of the numbers or above it, so that these stay in
 * the cache; what is left goes to another list. Called for one window after the other, downwards. */
extern "C" __global__ void list_link(int *parent, const int2 *list, const unsigned *listed, int2 *rest, unsigned *left,
                                     const unsigned *roots, int w, int windows) {
	const unsigned count = *listed, all = blockDim.x * EACH;
	const int low = (int)((ss_u64)*roots * w / windows);
	for (ss_u64 base = (ss_u64)blockIdx.x * all; base < count; base += (ss_u64)gridDim.x * all) {
		int2 pair[EACH];
		int old[EACH];
		unsigned some = 0;
#pragma unroll
		for (int e = 0; e < EACH; e++) {
			const ss_u64 i = base + e * blockDim.x + threadIdx.x;
			pair[e] = i < count ? __ldcs(list + i) : make_int2(0, 0);
		}
		for (bool more = true; more;) {
			more = false;
#pragma unroll
			for (int e = 0; e < EACH; e++) {
				const int high = max(pair[e].x, pair[e].y), lower = min(pair[e].x, pair[e].y);
				old[e] = high == lower || high < low ? lower : atomicMin(parent + high, lower);
			}
#pragma unroll
			for (int e = 0; e < EACH; e++) {
				const int high = max(pair[e].x, pair[e].y), lower = min(pair[e].x, pair[e].y);
				if (high == lower || high < low)
					continue;
				pair[e] = make_int2(old[e] == high ? lower : old[e], lower);
				more = true;
			}
		}
		if (w == 0)
			continue;
#pragma unroll
		for (int e = 0; e < EACH; e++)
			some += pair[e].x != pair[e].y;
		unsigned place = list_reserve(some, left);
#pragma unroll
		for (int e = 0; e < EACH; e++)
			if (pair[e].x != pair[e].y)
				__stcs(rest + place++, pair[e]);
		__syncthreads();
	}
}

extern "C" __global__ void giant_find(const int *parent, const unsigned *roots, int samples, int *giant) {
	root_frequent(parent, (int)*roots, samples, giant);
}

/* The bits of the numbers in the largest component, 0 at first; vertex[i] becomes the label of the others. Pointers lead to
 * smaller numbers, and these come first: so most of them point to one whose bit is there already if it belongs there. */
extern "C" __global__ void roots_settle(const int *parent, int *vertex, const unsigned *roots, const int *giant,
                                        unsigned *inside) {
	const unsigned count = *roots, step = gridDim.x * blockDim.x;
	const int largest = *giant;
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (count + 31) / 32 * 32; i += step) {
		int above = i < count ? parent[i] : 0, next;
		bool in = i < count && has(*(volatile unsigned *)(inside + (above >> 5)), above);
		while (!in && i < count && (next = parent[above]) != above)
			above = next;
		in = in || (i < count && above == largest);
		const unsigned all = __ballot_sync(0xffffffffu, in);
		if (threadIdx.x % 32 == 0)
			inside[i / 32] = all;
		if (i < count && !in && above != (int)i)
			vertex[i] = vertex[above];
	}
}

/* The bits of the vertices that are roots in the largest component. */
extern "C" __global__ void giant_mark(const uint2 *ranks, int words, const unsigned *inside, unsigned *known) {
	const int w = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (w >= words)
		return;
	const uint2 rank = ranks[w];
	const unsigned *const from = inside + rank.y / 32;
	ss_u64 here = (from[0] | (ss_u64)from[1] << 32) >> rank.y % 32;
	unsigned found = 0;
	for (unsigned bits = rank.x; bits; bits &= bits - 1, here >>= 1)
		found |= here & 1 ? bits & -bits : 0;
	known[w] = found;
}

/* The label of a vertex that is not known to be in the largest component. A label that is final already is a root, too. */
static __device__ int label_of(const int *label, const uint2 *ranks, const int *vertex, const unsigned *inside, int largest,
                               int v) {
	uint2 rank = ranks[v >> 5];
	while (!has(rank.x, v)) {
		v = label_load(label + v);
		rank = ranks[v >> 5];
	}
	const int number = number_of(rank, v);
	return has(inside[number >> 5], number) ? largest : vertex[number];
}

/* The last pass. Most vertices of the largest component point to one that is known to be there. */
extern "C" __global__ void labels_finish(int *label, int n, const uint2 *ranks, const int *vertex, const int *giant,
                                         const unsigned *inside, unsigned *known) {
	const ss_i64 base = (ss_i64)blockIdx.x * blockDim.x * EACH + threadIdx.x;
	const int largest = vertex[*giant];
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
		if (v < n && above[e] != v)
			bits[e] = *(volatile unsigned *)(known + (above[e] >> 5));
	}
#pragma unroll
	for (int e = 0; e < EACH; e++) {
		const ss_i64 v = base + e * (int)blockDim.x;
		const bool in = v < n && has(bits[e], above[e]);
		const unsigned all = __ballot_sync(0xffffffffu, in);
		if (v < n && threadIdx.x % 32 == 0)
			known[v / 32] = all;
		if (v < n)
			label[v] = in ? largest : label_of(label, ranks, vertex, inside, largest, above[e]);
	}
}
