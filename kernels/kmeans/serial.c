/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain loops: the cost of the work without any parallelism. */
#include "kernels/kmeans/kmeans.h"

static void serial_run(const struct kmeans_state *s) {
	for (size_t loop = 0; loop < s->input->loops; loop++) {
		int64_t changed = 0;
		kmeans_table_clear(s, 0);
		for (size_t i = 0; i < s->input->n; i++) {
			const double *x = kmeans_object(s, i);
			size_t c = kmeans_nearest(s, x);
			changed += kmeans_enter(s, i, c);
			kmeans_add(s->sums, s->counts, c, x, s->input->coords);
		}
		KERNEL_COUNT(s->events, KMEANS_MOVED, changed);
		KERNEL_COUNT(s->events, KMEANS_ASSIGNED, s->input->n);
		s->changed[loop] = (double)changed;
		kmeans_centres_move(s);
	}
}

const struct kmeans_variant KERNEL_COUNTED(kmeans_serial) = {.name = "serial", .run = serial_run};
