/* SPDX-License-Identifier: BSD-3-Clause */
/* The project's program without OpenMP: the sweeps, one after the other. */
#include "kernels/quake/quake.h"

static void serial_run(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	for (int64_t step = 0; step < s->input->steps; step++) {
		for (ptrdiff_t i = 0; i < n; i++)
			quake_sweep_charge(s, i);
		for (ptrdiff_t i = 0; i < n; i++)
			s->counts[step] += quake_sweep_count(s, i);
		for (ptrdiff_t i = 0; i < n; i++) {
			quake_sweep_propagate(s, i);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, n);
		}
		for (ptrdiff_t i = 0; i < n; i++)
			s->means[step] += quake_sweep_energy(s, i);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_serial) = {.name = "serial", .run = serial_run};
