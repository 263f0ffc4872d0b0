/* SPDX-License-Identifier: BSD-3-Clause */
/* The recursion of cache-oblivious Floyd-Warshall: Chowdhury and Ramachandran, "The cache-oblivious Gaussian
 * elimination paradigm", 2010. Their four functions A, B, C, D differ only in which quadrants wait for which, and that
 * follows from where the cube lies: a quadrant of a cube on the diagonal row (i = k) waits for the quadrant it reads in
 * row k, one on the diagonal column (j = k) for the one it reads in column k; elsewhere all four go at once. */
#include <config.h>

#include "kernels/fw/fw.h"

struct fw_cube fw_cube_whole(const struct fw_state *s) {
	struct fw_cube cube = {.size = 1};
	while (cube.size < s->down)
		cube.size *= 2;
	return cube;
}

static int inside(const struct fw_state *s, struct fw_cube cube) {
	return cube.i < s->down && cube.j < s->down && cube.k < s->down;
}

int fw_cube_split(const struct fw_state *s, struct fw_cube cube, int step, struct fw_cube part[FW_CUBE_PARTS]) {
	int half = cube.size / 2, late_k = step / 3, count = 0;
	for (int quadrant = 0; quadrant < FW_CUBE_PARTS; quadrant++) {
		int low = quadrant / 2, right = quadrant % 2;
		int waits = (cube.i == cube.k && low != late_k) + (cube.j == cube.k && right != late_k);
		struct fw_cube p = {cube.i + low * half, cube.j + right * half, cube.k + late_k * half, half};
		if (waits == step % 3 && inside(s, p))
			part[count++] = p;
	}
	return count;
}
