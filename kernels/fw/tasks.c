/* SPDX-License-Identifier: BSD-3-Clause */
/* The recursion with tasks. The parallel region is opened once, at the top: every task at every depth can run on any
 * thread of the one team. Compare tasks_inner.c. */
#include "kernels/fw/fw.h"

static void cube_run(const struct fw_state *s, struct fw_cube cube) {
	struct fw_cube part[FW_CUBE_PARTS];
	if (cube.size == 1) {
		KERNEL_COUNTED(fw_tile_update)(s, cube.i, cube.j, cube.k);
		return;
	}
	for (int step = 0; step < FW_CUBE_STEPS; step++) {
		int count = fw_cube_split(s, cube, step, part);
		for (int p = 1; p < count; p++) {
			struct fw_cube other = part[p];
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
	cube_run(s, fw_cube_whole(s));
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

static void tasks_inner_cube_run(const struct fw_state *s, struct fw_cube cube);

static void step_run(const struct fw_state *s, struct fw_cube cube, int step) {
	struct fw_cube part[FW_CUBE_PARTS];
	int count = fw_cube_split(s, cube, step, part);
	for (int p = 0; p < count; p++) {
		struct fw_cube each = part[p];
#pragma omp task firstprivate(each)
		tasks_inner_cube_run(s, each);
	}
#pragma omp taskwait
}

static void tasks_inner_cube_run(const struct fw_state *s, struct fw_cube cube) {
	if (cube.size == 1) {
		KERNEL_COUNTED(fw_tile_update)(s, cube.i, cube.j, cube.k);
		return;
	}
#pragma omp parallel
#pragma omp single
	for (int step = 0; step < FW_CUBE_STEPS; step++)
		step_run(s, cube, step);
}

static void tasks_inner_run(const struct fw_state *s) {
	tasks_inner_cube_run(s, fw_cube_whole(s));
}

const struct fw_variant KERNEL_COUNTED(fw_tasks_inner) = {
	.name = "tasks_inner", .form = FW_TILES, .run = tasks_inner_run};
