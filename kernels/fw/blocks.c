/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocked Floyd-Warshall: Venkataraman, Sahni and Mukhopadhyaya, "A blocked all-pairs shortest-paths algorithm", 2003.
 * For each k: the diagonal tile, then row k and column k, then the rest. One parallel region around it all. Row and
 * column do not read each other, so no barrier stands between them. The thread that updates the next diagonal tile
 * closes it at once: nobody reads it before the next barrier, and so the diagonal costs no step of its own. */
#include <config.h>

#include "kernels/fw/fw.h"

static void cross_update(const struct fw_state *s, fw_update *update, int k) {
#pragma omp for schedule(runtime) nowait
	for (int j = 0; j < s->across; j++)
		if (j != k)
			update(s, k, j, k);
#pragma omp for schedule(runtime)
	for (int i = 0; i < s->down; i++)
		if (i != k)
			update(s, i, k, k);
}

/* All tiles are shared out, not only those that change: so a static schedule gives a tile to one thread for all k, and
 * that thread has touched it first. */
static void rest_update(const struct fw_state *s, fw_update *update, int k) {
#pragma omp for collapse(2) schedule(runtime)
	for (int i = 0; i < s->down; i++)
		for (int j = 0; j < s->across; j++) {
			if (i == k || j == k)
				continue;
			update(s, i, j, k);
			if (i == k + 1 && j == k + 1)
				update(s, i, j, i);
		}
}

void fw_blocks_run(const struct fw_state *s, fw_update *update) {
#pragma omp parallel
	{
#pragma omp single
		update(s, 0, 0, 0);
		for (int k = 0; k < s->down; k++) {
			cross_update(s, update, k);
			rest_update(s, update, k);
		}
	}
}
