/* SPDX-License-Identifier: BSD-3-Clause */
/* Each sweep a parallel loop over the cells of the whole grid. The schedule is always static: a cell is too little work
 * to be handed out on its own. */
#include "kernels/quake/quake.h"

enum what { COUNT, ENERGY };

static inline double cell_value(const struct quake_state *s, enum what what, ptrdiff_t i, ptrdiff_t j) {
	return what == COUNT ? quake_row(s, s->now, i)[j] > QUAKE_EMAX : quake_row(s, s->now + 1, i)[j];
}

static double sum_clause(const struct quake_state *s, enum what what) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : sum)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++)
			sum += cell_value(s, what, i, j);
	return sum;
}

static double sum_locked(const struct quake_state *s, enum what what) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel
	{
		double part = 0;
#pragma omp for collapse(2) schedule(static) nowait
		for (ptrdiff_t i = 0; i < n; i++)
			for (ptrdiff_t j = 0; j < n; j++)
				part += cell_value(s, what, i, j);
		if (s->reduction == QUAKE_ATOMIC) {
#pragma omp atomic
			sum += part;
		} else {
#pragma omp critical(quake_collapse)
			sum += part;
		}
	}
	return sum;
}

static void charge(const struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel for collapse(2) schedule(static)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++)
			quake_row(s, s->now, i)[j] += QUAKE_EDELTA;
}

static void propagate_halo(const struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel for collapse(2) schedule(static)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++) {
			quake_row(s, s->now + 1, i)[j] =
				quake_cell_halo(quake_row(s, s->now, i - 1), quake_row(s, s->now, i), quake_row(s, s->now, i + 1), j);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, 1);
		}
}

static void propagate_branches(const struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel for collapse(2) schedule(static)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++) {
			const float *above = i > 0 ? quake_row(s, s->now, i - 1) : NULL;
			const float *below = i < n - 1 ? quake_row(s, s->now, i + 1) : NULL;
			quake_row(s, s->now + 1, i)[j] = quake_cell_branches(above, quake_row(s, s->now, i), below, j, n);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, 1);
		}
}

static void collapse_run(struct quake_state *s) {
	double (*sum)(const struct quake_state *, enum what) = s->reduction == QUAKE_CLAUSE ? sum_clause : sum_locked;
	for (int64_t step = 0; step < s->input->steps; step++) {
		charge(s);
		s->counts[step] = sum(s, COUNT);
		if (s->border == QUAKE_HALO)
			propagate_halo(s);
		else
			propagate_branches(s);
		s->means[step] = sum(s, ENERGY);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_collapse) = {.name = "collapse", .run = collapse_run};
