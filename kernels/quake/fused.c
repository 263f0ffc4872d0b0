/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass over the grid for each step, in one parallel region for all of them. */
#include "kernels/quake/quake.h"

static void step_row(const struct quake_state *s, int64_t step, ptrdiff_t i, struct quake_tally *tally) {
	const float *from[3] = {quake_row(s, step, i - 1), quake_row(s, step, i), quake_row(s, step, i + 1)};
	float delta = step + 1 < s->input->steps ? QUAKE_EDELTA : 0;
	s->isa->step(s, from, quake_row(s, step + 1, i), delta, tally);
}

static void fused_run(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel
	{
#pragma omp for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++)
			s->isa->charge(s, quake_row(s, 0, i));
		for (int64_t step = 0; step < s->input->steps; step++) {
			struct quake_tally tally = {0};
#pragma omp for schedule(runtime) nowait
			for (ptrdiff_t i = 0; i < n; i++)
				step_row(s, step, i, &tally);
			quake_tally_add(s, step, &tally);
#pragma omp barrier
		}
	}
	s->now = s->input->steps & 1;
}

const struct quake_variant quake_fused = {.name = "fused", .run = fused_run};
