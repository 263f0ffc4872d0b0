/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweeps in their plain form, along one row, for the compiler to vectorise. */
#include "kernels/quake/quake.h"

void quake_sweep_charge(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	float *row = quake_row(s, s->now, i);
	for (ptrdiff_t j = 0; j < n; j++)
		row[j] += QUAKE_EDELTA;
}

double quake_sweep_count(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	const float *row = quake_row(s, s->now, i);
	int count = 0;
	for (ptrdiff_t j = 0; j < n; j++)
		count += row[j] > QUAKE_EMAX;
	return count;
}

double quake_sweep_energy(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	const float *row = quake_row(s, s->now + 1, i);
	double energy = 0;
	for (ptrdiff_t j = 0; j < n; j++)
		energy += row[j];
	return energy;
}

static void propagate_halo(const struct quake_state *s, ptrdiff_t i, ptrdiff_t n) {
	const float *above = quake_row(s, s->now, i - 1), *row = quake_row(s, s->now, i);
	const float *below = quake_row(s, s->now, i + 1);
	float *restrict next = quake_row(s, s->now + 1, i);
	for (ptrdiff_t j = 0; j < n; j++)
		next[j] = quake_cell_halo(above, row, below, j);
}

static void propagate_branches(const struct quake_state *s, ptrdiff_t i, ptrdiff_t n) {
	const float *above = i > 0 ? quake_row(s, s->now, i - 1) : NULL, *row = quake_row(s, s->now, i);
	const float *below = i < n - 1 ? quake_row(s, s->now, i + 1) : NULL;
	float *restrict next = quake_row(s, s->now + 1, i);
	for (ptrdiff_t j = 0; j < n; j++)
		next[j] = quake_cell_branches(above, row, below, j, n);
}

void quake_sweep_propagate(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	if (s->border == QUAKE_HALO)
		propagate_halo(s, i, n);
	else
		propagate_branches(s, i, n);
}
