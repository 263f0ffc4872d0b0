/* SPDX-License-Identifier: BSD-3-Clause */
/* The recursion with tasks. The parallel region is opened once, at the top: every task at every depth can run on any
 * thread of the one team. Compare the next one. */
#include "kernels/fw/fw.h"

/* The recursion. A cube is tiles i.., j.., k.. of `size` (a power of two) each way; parts outside the matrix
 * are left out. */
struct cube {
	int i, j, k, size;
};
enum { CUBE_STEPS = 6, CUBE_PARTS = 4 };

/* The recursion of cache-oblivious Floyd-Warshall: Chowdhury and Ramachandran, "The cache-oblivious Gaussian
 * elimination paradigm", 2010. Their four functions A, B, C, D differ only in which quadrants wait for which, and that
 * follows from where the cube lies: a quadrant of a cube on the diagonal row (i = k) waits for the quadrant it reads in
 * row k, one on the diagonal column (j = k) for the one it reads in column k; elsewhere all four go at once. */

static struct cube cube_whole(const struct fw_state *s) {
	struct cube cube = {.size = 1};
	while (cube.size < s->down)
		cube.size *= 2;
	return cube;
}

static int inside(const struct fw_state *s, struct cube cube) {
	return cube.i < s->down && cube.j < s->down && cube.k < s->down;
}

/* The parts that step 0 .. CUBE_STEPS - 1 works on: they may run at the same time, the steps run in order. */
static int cube_split(const struct fw_state *s, struct cube cube, int step, struct cube part[CUBE_PARTS]) {
	int half = cube.size / 2, late_k = step / 3, count = 0;
	for (int quadrant = 0; quadrant < CUBE_PARTS; quadrant++) {
		int low = quadrant / 2, right = quadrant % 2;
		int waits = (cube.i == cube.k && low != late_k) + (cube.j == cube.k && right != late_k);
		struct cube p = {cube.i + low * half, cube.j + right * half, cube.k + late_k * half, half};
		if (waits == step % 3 && inside(s, p))
			part[count++] = p;
	}
	return count;
}

static void cube_run(const struct fw_state *s, struct cube cube) {
	struct cube part[CUBE_PARTS];
	if (cube.size == 1) {
		KERNEL_COUNTED(fw_tile_update)(s, cube.i, cube.j, cube.k);
		return;
	}
	for (int step = 0; step < CUBE_STEPS; step++) {
		int count = cube_split(s, cube, step, part);
		for (int p = 1; p < count; p++) {
			struct cube other = part[p];
#pragma omp task firstprivate(other)
			cube_run(s, other);
		}
		if (count > 0)
			cube_run(s, part[0]);
#pragma omp taskwait
	}
}

static void tasks_run(const struct fw_state *s) {
#pragma omp parallel
#pragma omp single
	cube_run(s, cube_whole(s));
}

const struct fw_variant KERNEL_COUNTED(fw_tasks) = {.name = "tasks", .form = FW_TILES, .run = tasks_run};

/* The same recursion with a common mistake kept in: the parallel region is opened inside the recursive function.
 *
 * Why it does not scale. A task belongs to the innermost region around it and only threads of that region's team run
 * it. OpenMP lets one level of regions be active unless told otherwise (max-active-levels-var is 1), so only the
 * outermost call has a team; every call below opens a region of one thread, which runs the tasks it has just made one
 * by one. Of the six steps of the outermost call (two on the diagonal, two pairs of row and column, two with the rest)
 * only the two pairs overlap, and they keep two threads busy: 8 units of work take 6 units of time, a speedup of 1.33
 * at most on any number of threads. Each inner region is paid for besides. Raising OMP_MAX_ACTIVE_LEVELS does not mend
 * it: then every call starts a whole team, and the machine is oversubscribed. */

static void tasks_inner_cube_run(const struct fw_state *s, struct cube cube);

static void step_run(const struct fw_state *s, struct cube cube, int step) {
	struct cube part[CUBE_PARTS];
	int count = cube_split(s, cube, step, part);
	for (int p = 0; p < count; p++) {
		struct cube each = part[p];
#pragma omp task firstprivate(each)
		tasks_inner_cube_run(s, each);
	}
#pragma omp taskwait
}

static void tasks_inner_cube_run(const struct fw_state *s, struct cube cube) {
	if (cube.size == 1) {
		KERNEL_COUNTED(fw_tile_update)(s, cube.i, cube.j, cube.k);
		return;
	}
#pragma omp parallel
#pragma omp single
	for (int step = 0; step < CUBE_STEPS; step++)
		step_run(s, cube, step);
}

static void tasks_inner_run(const struct fw_state *s) {
	tasks_inner_cube_run(s, cube_whole(s));
}

const struct fw_variant KERNEL_COUNTED(fw_tasks_inner) = {
	.name = "tasks_inner", .form = FW_TILES, .run = tasks_inner_run};
