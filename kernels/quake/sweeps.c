/* SPDX-License-Identifier: BSD-3-Clause */
/* The project's program with OpenMP: each sweep a parallel loop over rows; the sums of all threads in one of three
 * ways. */
#include "kernels/quake/quake.h"

/* The sweeps in their plain form, along one row, for the compiler to vectorise. */

static void sweep_charge(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	float *row = quake_row(s, s->now, i);
	for (ptrdiff_t j = 0; j < n; j++)
		row[j] += QUAKE_EDELTA;
}

static double sweep_count(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	const float *row = quake_row(s, s->now, i);
	int count = 0;
	for (ptrdiff_t j = 0; j < n; j++)
		count += row[j] > QUAKE_EMAX;
	return count;
}

static double sweep_energy(const struct quake_state *s, ptrdiff_t i) {
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

static void sweep_propagate(const struct quake_state *s, ptrdiff_t i) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	if (s->border == QUAKE_HALO)
		propagate_halo(s, i, n);
	else
		propagate_branches(s, i, n);
}

typedef double sweep_sum(const struct quake_state *s, ptrdiff_t i);

static double sum_clause(const struct quake_state *s, sweep_sum *row) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
	for (ptrdiff_t i = 0; i < n; i++)
		sum += row(s, i);
	return sum;
}

static double sum_locked(const struct quake_state *s, sweep_sum *row) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel
	{
		double part = 0;
#pragma omp for schedule(runtime) nowait
		for (ptrdiff_t i = 0; i < n; i++)
			part += row(s, i);
		if (s->reduction == QUAKE_ATOMIC) {
#pragma omp atomic
			sum += part;
		} else {
#pragma omp critical(quake_rows)
			sum += part;
		}
	}
	return sum;
}

static void rows_run(struct quake_state *s) {
	double (*sum)(const struct quake_state *, sweep_sum *) = s->reduction == QUAKE_CLAUSE ? sum_clause : sum_locked;
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	for (int64_t step = 0; step < s->input->steps; step++) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++)
			sweep_charge(s, i);
		s->counts[step] = sum(s, sweep_count);
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++) {
			sweep_propagate(s, i);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, n);
		}
		s->means[step] = sum(s, sweep_energy);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_rows) = {.name = "rows", .run = rows_run};

/* The project's program without OpenMP: the sweeps, one after the other. */

static void serial_run(struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	for (int64_t step = 0; step < s->input->steps; step++) {
		for (ptrdiff_t i = 0; i < n; i++)
			sweep_charge(s, i);
		for (ptrdiff_t i = 0; i < n; i++)
			s->counts[step] += sweep_count(s, i);
		for (ptrdiff_t i = 0; i < n; i++) {
			sweep_propagate(s, i);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, n);
		}
		for (ptrdiff_t i = 0; i < n; i++)
			s->means[step] += sweep_energy(s, i);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_serial) = {.name = "serial", .run = serial_run};

/* Each sweep a parallel loop over the cells of the whole grid. The schedule is always static: a cell is too little work
 * to be handed out on its own. */

enum what { COUNT, ENERGY };

static inline double cell_value(const struct quake_state *s, enum what what, ptrdiff_t i, ptrdiff_t j) {
	return what == COUNT ? quake_row(s, s->now, i)[j] > QUAKE_EMAX : quake_row(s, s->now + 1, i)[j];
}

static double collapse_sum_clause(const struct quake_state *s, enum what what) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : sum)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++)
			sum += cell_value(s, what, i, j);
	return sum;
}

static double collapse_sum_locked(const struct quake_state *s, enum what what) {
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

static void collapse_charge(const struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel for collapse(2) schedule(static)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++)
			quake_row(s, s->now, i)[j] += QUAKE_EDELTA;
}

static void collapse_propagate_halo(const struct quake_state *s) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
#pragma omp parallel for collapse(2) schedule(static)
	for (ptrdiff_t i = 0; i < n; i++)
		for (ptrdiff_t j = 0; j < n; j++) {
			quake_row(s, s->now + 1, i)[j] =
				quake_cell_halo(quake_row(s, s->now, i - 1), quake_row(s, s->now, i), quake_row(s, s->now, i + 1), j);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, 1);
		}
}

static void collapse_propagate_branches(const struct quake_state *s) {
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
	double (*sum)(const struct quake_state *, enum what) =
		s->reduction == QUAKE_CLAUSE ? collapse_sum_clause : collapse_sum_locked;
	for (int64_t step = 0; step < s->input->steps; step++) {
		collapse_charge(s);
		s->counts[step] = sum(s, COUNT);
		if (s->border == QUAKE_HALO)
			collapse_propagate_halo(s);
		else
			collapse_propagate_branches(s);
		s->means[step] = sum(s, ENERGY);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_collapse) = {.name = "collapse", .run = collapse_run};
