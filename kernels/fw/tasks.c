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
