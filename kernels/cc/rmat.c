/* SPDX-License-Identifier: BSD-3-Clause */
/* R-MAT: Chakrabarti, Zhan and Faloutsos, "R-MAT: a recursive model for graph mining", 2004, with a = .57,
 * b = c = .19. n is rounded up to a power of two. Few vertices have very many neighbours, many have none; numbers are
 * scrambled so that they do not tell which. */
#include <config.h>

#include "kernels/cc/graph.h"

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

/* A permutation of 0 .. 2^scale - 1: both an odd factor and a shift to the right can be undone. */
static int32_t scramble(uint32_t v, int scale, uint64_t seed) {
	uint32_t mask = (UINT32_C(1) << scale) - 1;
	for (int round = 0; round < 3; round++) {
		uint64_t key = kernel_random(&seed);
		v = (v * ((uint32_t)key | 1) + (uint32_t)(key >> 32)) & mask;
		v ^= v >> (scale / 2 + 1);
	}
	return (int32_t)v;
}

/* One random number decides about four levels, 16 bits each. */
static void edge_draw(uint64_t *random, int scale, uint32_t end[2]) {
	const uint32_t a = 37356, ab = a + 12452, abc = ab + 12452; /* of 65536 */
	uint64_t bits = 0;
	for (int level = 0; level < scale; level++, bits >>= 16) {
		if (level % 4 == 0)
			bits = kernel_random(random);
		uint32_t at = bits & 65535;
		end[0] = end[0] << 1 | (at >= ab);
		end[1] = end[1] << 1 | ((at >= a && at < ab) || at >= abc);
	}
}

static bool rmat_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	int scale = scale_of(n);
	uint64_t random = seed;
	bool made = true;
	pairs->n = (int32_t)1 << scale;
	int64_t edges = scale > 0 ? (int64_t)pairs->n * (degree > 0 ? degree : DEGREE) / 2 : 0;
	for (; made && edges > 0; edges--) {
		uint32_t end[2] = {0, 0};
		edge_draw(&random, scale, end);
		made = cc_pairs_add(pairs, scramble(end[0], scale, seed), scramble(end[1], scale, seed));
	}
	return made;
}

const struct cc_generator cc_rmat = {
	.name = "rmat",
	.summary = "R-MAT: few vertices with many neighbours, like a social network",
	.make = rmat_make,
	.degree = rmat_degree,
};
