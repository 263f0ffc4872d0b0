/* SPDX-License-Identifier: BSD-3-Clause */
/* A cube of k * k * k vertices, each joined to the (up to) 26 around it as a queen moves in three dimensions: like the
 * meshes of finite elements, of which Queen_4147 is one. n is rounded to the nearest cube. A degree of 6 or less leaves
 * the neighbours across faces, one of 18 or less those across faces and edges. */
#include <config.h>
#include <math.h>

#include "kernels/cc/graph.h"

static double queen_degree(double n) {
	double k = round(cbrt(n));
	return k > 1 ? pow(3 - 2 / k, 3) - 1 : 0;
}

static int moves_of(int degree) {
	return degree == 0 || degree > 18 ? 3 : degree > 6 ? 2 : 1;
}

/* Vertex (x, y, z) with those after it, one of each two opposite moves. */
static bool vertex_join(struct cc_pairs *pairs, const int32_t at[3], int32_t k, int moves) {
	int32_t v = (at[2] * k + at[1]) * k + at[0];
	for (int move = 14; move < 27; move++) {
		int step[3] = {move % 3 - 1, move / 3 % 3 - 1, move / 9 - 1}, axes = 0;
		bool inside = true;
		for (int axis = 0; axis < 3; axis++) {
			axes += step[axis] != 0;
			inside &= at[axis] + step[axis] >= 0 && at[axis] + step[axis] < k;
		}
		if (inside && axes <= moves && !cc_pairs_add(pairs, v, v + (step[2] * k + step[1]) * k + step[0]))
			return false;
	}
	return true;
}

static bool queen_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	int32_t k = (int32_t)round(cbrt(n));
	bool made = true;
	(void)seed;
	pairs->n = k * k * k;
	for (int32_t v = 0; made && v < pairs->n; v++)
		made = vertex_join(pairs, (int32_t[3]){v % k, v / k % k, v / k / k}, k, moves_of(degree));
	return made;
}

const struct cc_generator cc_queen = {
	.name = "queen",
	.summary = "cube with up to 26 neighbours a vertex, like a mesh of finite elements",
	.make = queen_make,
	.degree = queen_degree,
};
