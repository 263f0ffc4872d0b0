/* SPDX-License-Identifier: BSD-3-Clause */
/* A cube of k * k * k vertices, each joined to the (up to) 26 around it as a queen moves in three dimensions: like the
 * meshes of finite elements, of which Queen_4147 is one. n is rounded to the nearest cube. A degree of 6 or less leaves
 * the neighbours across faces, one of 18 or less those across faces and edges. One above 26 makes three vertices of
 * each, for three unknowns, joined with each other and with all of the neighbours': up to 80 neighbours, as Queen_4147
 * has. */
#include <math.h>

#include "kernels/cc/cc.h"

static double queen_degree(double n) {
	double k = round(cbrt(n));
	return k > 1 ? pow(3 - 2 / k, 3) - 1 : 0;
}

static int moves_of(int degree) {
	return degree == 0 || degree > 18 ? 3 : degree > 6 ? 2 : 1;
}

struct cube {
	int32_t k;
	int moves, unknowns;
};

/* Whether point `at` has a neighbour there; `point` becomes that. */
static bool move_inside(const struct cube *cube, int move, int32_t *point) {
	int32_t k = cube->k, p = *point, at[3] = {p % k, p / k % k, p / k / k};
	int step[3] = {move % 3 - 1, move / 3 % 3 - 1, move / 9 - 1}, axes = 0;
	bool inside = true;
	for (int axis = 0; axis < 3; axis++) {
		axes += step[axis] != 0;
		inside &= at[axis] + step[axis] >= 0 && at[axis] + step[axis] < k;
	}
	*point = p + (step[2] * k + step[1]) * k + step[0];
	return inside && axes <= cube->moves;
}

/* Keeps one of each two opposite moves; move 13 stays in place. */
static size_t vertex_join(const void *what, int32_t v, int32_t (*pair)[2]) {
	const struct cube *cube = what;
	size_t count = 0;
	for (int move = 13; move < 27; move++) {
		int32_t point = v / cube->unknowns;
		if (!move_inside(cube, move, &point))
			continue;
		for (int32_t w = point * cube->unknowns; w < (point + 1) * cube->unknowns; w++)
			if (w > v) {
				if (pair)
					pair[count][0] = v, pair[count][1] = w;
				count++;
			}
	}
	return count;
}

static bool queen_make(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed) {
	struct cube cube = {.moves = moves_of(degree), .unknowns = degree > 26 ? 3 : 1};
	(void)seed;
	cube.k = (int32_t)fmax(1, round(cbrt((double)n / cube.unknowns)));
	pairs->n = cube.k * cube.k * cube.k * cube.unknowns;
	return cc_pairs_join(pairs, vertex_join, &cube);
}

const struct cc_generator cc_queen = {.name = "queen", .make = queen_make, .degree = queen_degree};
