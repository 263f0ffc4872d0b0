/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees that are linked: label[v] is a pointer to a vertex of v's component, never to a larger one, so that the root is the
 * smallest. Afforest: Sutton, Ben-Nun and Barak, "Optimizing parallel graph connectivity computation via subgraph sampling",
 * 2018. The start along the first smaller neighbour, the shares of work by degree and halving while searching: Jaiganesh and
 * Burtscher, "A high-performance connected components implementation for GPUs", 2018.
 *
 * Rows ascend: a row's first entry is its smallest neighbour, and those smaller than v are at its beginning. An edge is
 * looked at from its larger end, unless the smaller one's component is known and skipped.
 *
 * A label read from a first-level cache that is behind is still a vertex of the component: that is enough to compare, and
 * to begin a climb with. Where it must not be behind label_load reads it. */
#include "trees.cuh"

enum { LINK_SPLICE, LINK_HOOK, LINK_HALVE };

#if LINK == 0
/* One step of Rem's algorithm with splicing (Patwary, Refsnes and Manne, "Multi-core spanning forest algorithms
 * using the disjoint-set data structure", 2012), with a minimum instead of a compare and swap: *high's pointer falls
 * to `low` at least, and its old target is left to join. True if nothing is left. */
static __device__ __forceinline__ bool splice(int *label, int *a, int *b) {
	const int high = max(*a, *b), low = min(*a, *b);
	int old = label_load(&label[high]);
	if (old > low)
		old = atomicMin(&label[high], low);
	*a = old;
	*b = low;
	return old == high || old == low;
}

static __device__ __forceinline__ void link(int *label, int a, int b) {
	while (a != b && !splice(label, &a, &b))
		;
}
#elif LINK == 1
/* The larger root is hooked to the smaller vertex: as kernels/cc/afforest.c does. */
static __device__ __forceinline__ void link(int *label, int a, int b) {
	int x = label_load(&label[a]), y = label_load(&label[b]);
	while (x != y) {
		const int high = max(x, y), low = min(x, y);
		int above = label_load(&label[high]);
		if (above == high)
			above = atomicCAS(&label[high], high, low);
		if (above == high || above == low)
			return;
		x = label_load(&label[above]);
		y = label_load(&label[low]);
	}
}
#else
/* The root above v; every second pointer on the way skips one. */
static __device__ __forceinline__ int find(int *label, int v) {
	int above = label_load(&label[v]), next;
	while (above != v && (next = label_load(&label[above])) != above) {
		label[v] = next;
		v = above;
		above = next;
	}
	return above;
}

static __device__ __forceinline__ void link(int *label, int a, int b) {
	int x = find(label, a), y = find(label, b);
	while (x != y) {
		const int high = max(x, y), low = min(x, y), above = atomicCAS(&label[high], high, low);
		if (above == high)
			return;
		x = find(label, above);
		y = low;
	}
}
#endif

/* ---- the first edges of every row ---- */

/* Lets v point to its first neighbour if that is smaller. The next ones, `rounds` in all, go to the list of pairs to
 * link: with that pointer in v's place, or with v itself if `vertices`; `smaller`: only those smaller than v. */
template <class O>
static __device__ __forceinline__ void start(const O *first, const int *target, int n, int *label, int2 *list,
                                             unsigned *listed, int rounds, int smaller, int vertices) {
	const ss_i64 at = (ss_i64)blockIdx.x * blockDim.x + threadIdx.x;
	const int v = (int)at;
	int next[4], count = 0, above = v;
	if (at < n) {
		const O begin = first[v], end = first[v + 1];
#pragma unroll
		for (int i = 0; i < 4; i++)
			next[i] = i < rounds && begin + i < end ? target[begin + i] : 0x7fffffff;
		if (next[0] < v) {
			above = next[0];
			next[0] = 0x7fffffff;
		}
		label[v] = above;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			if (smaller && next[i] > v)
				next[i] = 0x7fffffff;
			count += next[i] != 0x7fffffff;
		}
	}
	if (rounds == 1 && smaller)
		return;
	unsigned place = list_reserve(count, listed);
	if (count == 0)
		return;
#pragma unroll
	for (int i = 0; i < 4; i++)
		if (next[i] != 0x7fffffff)
			list[place++] = make_int2(vertices ? v : above, next[i]);
}

extern "C" __global__ void list_link(int *label, const int2 *list, const unsigned *listed, int vertices) {
	const unsigned count = *listed, step = gridDim.x * blockDim.x;
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
		int2 pair = list[i];
		if (vertices)
			pair = make_int2(label_load(&label[pair.x]), label_load(&label[pair.y]));
		link(label, pair.x, pair.y);
	}
}

/* ---- the largest component ---- */

extern "C" __global__ void giant_find(const int *label, int n, int samples, int *giant) {
	root_frequent(label, n, samples, giant);
}

/* ---- the other edges ---- */

/* The facts of an edge pass. */
template <class O> struct pass {
	const O *first;
	const int *target;
	int n, *label;
	const int *giant; /* its label's rows are skipped, and the others' are read whole; NULL: each edge from its larger end */
	int from; /* entries at a row's beginning that are linked already */
	unsigned hub; /* longer rows are left to a block each */
	int *hubs;
	unsigned *hub_count, *linked; /* not 0: labels are to be compressed once more */
};

template <class O> static __device__ __forceinline__ void row_link(const pass<O> &p, int v, unsigned rank, unsigned step) {
	int mine = label_load(&p.label[v]);
	for (O e = p.first[v] + p.from + rank, end = p.first[v + 1]; e < end; e += step) {
		const int u = p.target[e];
		if (!p.giant && u > v)
			break;
		const int other = p.label[u];
		if (other != mine) {
			if (p.giant)
				*p.linked = 1;
			link(p.label, mine, other);
			mine = label_load(&p.label[v]);
		}
	}
}

/* Whether v's row is this pass's; a long one goes to the list of hubs. */
template <class O> static __device__ __forceinline__ bool row_wanted(const pass<O> &p, int v, int giant) {
	if (p.giant && p.label[v] == giant)
		return false;
	const O begin = p.first[v] + p.from, end = p.first[v + 1];
	if (begin >= end || (!p.giant && p.target[begin] > v))
		return false;
	if (end - begin <= p.hub)
		return true;
	p.hubs[atomicAdd(p.hub_count, 1u)] = v;
	return false;
}

/* 32 bytes for each warp of a block. */
static __device__ __forceinline__ unsigned char *warp_bytes() {
	__shared__ unsigned char bytes[32][32];
	return bytes[threadIdx.x / 32];
}

/* 32 rows a warp; those that are wanted are dealt to its groups of GROUP lanes. */
template <class O> static __device__ __forceinline__ void rest(const pass<O> &p) {
	unsigned char *const dealt = warp_bytes();
	const ss_i64 at = (ss_i64)blockIdx.x * blockDim.x + threadIdx.x;
	const unsigned lane = threadIdx.x % 32;
	const bool wanted = at < p.n && row_wanted(p, (int)at, p.giant ? *p.giant : 0);
#if GROUP == 1
	if (wanted)
		row_link(p, (int)at, 0, 1);
#endif
	const unsigned all = __ballot_sync(0xffffffffu, wanted), count = __popc(all);
	if (GROUP == 1 || all == 0)
		return;
	if (wanted)
		dealt[__popc(all & ((1u << lane) - 1))] = lane;
	__syncwarp();
	for (unsigned i = lane / GROUP; i < count; i += 32 / GROUP)
		row_link(p, (int)(at - lane) + dealt[i], lane % GROUP, GROUP);
}

template <class O> static __device__ __forceinline__ void rest_hubs(const pass<O> &p) {
	const unsigned count = *p.hub_count;
	for (unsigned i = blockIdx.x; i < count; i += gridDim.x)
		row_link(p, p.hubs[i], threadIdx.x, blockDim.x);
}

#define KERNELS(O, bits)                                                                                               \
	extern "C" __global__ void start_##bits(const O *first, const int *target, int n, int *label, int2 *list,          \
	                                        unsigned *listed, int rounds, int smaller, int vertices) {                 \
		start(first, target, n, label, list, listed, rounds, smaller, vertices);                                       \
	}                                                                                                                  \
	extern "C" __global__ void rest_##bits(const O *first, const int *target, int n, int *label, const int *giant,     \
	                                       int from, unsigned hub, int *hubs, unsigned *hub_count,                     \
	                                       unsigned *linked) {                                                         \
		rest(pass<O>{first, target, n, label, giant, from, hub, hubs, hub_count, linked});                             \
	}                                                                                                                  \
	extern "C" __global__ void hubs_##bits(const O *first, const int *target, int n, int *label, const int *giant,     \
	                                       int from, unsigned hub, int *hubs, unsigned *hub_count,                     \
	                                       unsigned *linked) {                                                         \
		rest_hubs(pass<O>{first, target, n, label, giant, from, hub, hubs, hub_count, linked});                        \
	}

KERNELS(unsigned, 32)
KERNELS(ss_u64, 64)

/* Lets vertices point to their roots. Most find a pointer one step from its end: blocks start in order, and a pointer leads
 * to an earlier vertex. `needed`: does nothing if it is 0; NULL: always. */
extern "C" __global__ void labels_compress(int *label, int n, int halving, const unsigned *needed) {
	const ss_i64 at = (ss_i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (at >= n || (needed && *needed == 0))
		return;
	const int mine = label[at];
	int v = mine, above = label[v], next;
	while (above != v && (next = label[above]) != above) {
		if (halving)
			atomicMin(&label[v], next); /* v's own thread may already have found the root */
		v = halving ? above : v;
		above = next;
	}
	if (above != mine)
		label[at] = above;
}
