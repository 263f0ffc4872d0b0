/* SPDX-License-Identifier: BSD-3-Clause */
/* R-MAT: Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining", 2004, with a = .57,
 * b = c = .19. n is rounded up to a power of two. Few vertices have very many neighbours, many have none; numbers are
 * scrambled so that they do not tell which. */
#include "kernels/cc/cc.h"

enum { DEGREE = 32 };

static double rmat_degree(double n) {
	return n > 1 ? DEGREE : 0;
}

static int scale_of(int32_t n) {
	int scale = 0;
	while ((int32_t)1 << scale < n)
		scale++;
	return scale;
}

enum { SCRAMBLES = 3 };

struct rmat {
	uint64_t seed, key[SCRAMBLES];
	int scale;
};

/* A permutation of 0 .. 2^scale - 1: both an odd factor and a shift to the right can be undone. */
static int32_t scramble(const struct rmat *r, uint32_t v) {
	uint32_t mask = (UINT32_C(1) << r->scale) - 1;
	for (int round = 0; round < SCRAMBLES; round++) {
		v = (v * ((uint32_t)r->key[round] | 1) + (uint32_t)(r->key[round] >> 32)) & mask;
		v ^= v >> (r->scale / 2 + 1);
	}
	return (int32_t)v;
}

/* A random number decides four levels, 16 bits each. */
static void edge_draw(const struct rmat *r, uint64_t edge, int32_t pair[2]) {
	const uint32_t a = 37356, ab = a + 12452, abc = ab + 12452; /* of 65536 */
	uint64_t bits = 0, next = edge * (uint64_t)((r->scale + 3) / 4);
	uint32_t end[2] = {0, 0};
	for (int level = 0; level < r->scale; level++, bits >>= 16) {
		if (level % 4 == 0)
			bits = kernel_random_at(r->seed, next++);
		uint32_t at = bits & 65535;
		end[0] = end[0] << 1 | (at >= ab);
		end[1] = end[1] << 1 | ((at >= a && at < ab) || at >= abc);
	}
	pair[0] = scramble(r, end[0]);
	pair[1] = scramble(r, end[1]);
}

static bool rmat_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	struct rmat r = {.seed = seed, .scale = scale_of(n)};
	for (int i = 0; i < SCRAMBLES; i++)
		r.key[i] = kernel_random_at(seed, (uint64_t)i);
	pairs->n = (int32_t)1 << r.scale;
	int64_t edges = r.scale > 0 ? (int64_t)pairs->n * (degree > 0 ? degree : DEGREE) / 2 : 0;
	if (!cc_pairs_reserve(pairs, (size_t)edges))
		return false;
	pairs->count = (size_t)edges;
#pragma omp parallel for num_threads(cc_team((size_t)edges))
	for (int64_t e = 0; e < edges; e++)
		edge_draw(&r, (uint64_t)e, pairs->pair[e]);
	return true;
}

const struct cc_generator cc_rmat = {.name = "rmat", .make = rmat_make, .degree = rmat_degree};
