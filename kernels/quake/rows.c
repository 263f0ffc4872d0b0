/* SPDX-License-Identifier: BSD-3-Clause */
/* The project's program with OpenMP: each sweep a parallel loop over rows; the sums of all threads in one of three
 * ways. */
#include "kernels/quake/quake.h"

typedef double sweep_sum(const struct quake_state *s, ptrdiff_t i);

static double sum_clause(const struct quake_state *s, sweep_sum *row) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
	for (ptrdiff_t i = 0; i < n; i++)
		sum += row(s, i);
	return sum;
}

static double sum_atomic(const struct quake_state *s, sweep_sum *row) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel
	{
		double part = 0;
#pragma omp for schedule(runtime) nowait
		for (ptrdiff_t i = 0; i < n; i++)
			part += row(s, i);
#pragma omp atomic
		sum += part;
	}
	return sum;
}

static double sum_critical(const struct quake_state *s, sweep_sum *row) {
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	double sum = 0;
#pragma omp parallel
	{
		double part = 0;
#pragma omp for schedule(runtime) nowait
		for (ptrdiff_t i = 0; i < n; i++)
			part += row(s, i);
#pragma omp critical(quake_rows)
		sum += part;
	}
	return sum;
}

static void rows_run(struct quake_state *s) {
	static double (*const sums[])(const struct quake_state *, sweep_sum *) = {
		[QUAKE_CLAUSE] = sum_clause, [QUAKE_ATOMIC] = sum_atomic, [QUAKE_CRITICAL] = sum_critical};
	ptrdiff_t n = (ptrdiff_t)s->input->n;
	for (int64_t step = 0; step < s->input->steps; step++) {
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++)
			quake_sweep_charge(s, i);
		s->counts[step] = sums[s->reduction](s, quake_sweep_count);
#pragma omp parallel for schedule(runtime)
		for (ptrdiff_t i = 0; i < n; i++) {
			quake_sweep_propagate(s, i);
			KERNEL_COUNT(s->events, QUAKE_CELL_UPDATES, n);
		}
		s->means[step] = sums[s->reduction](s, quake_sweep_energy);
		s->now ^= 1;
	}
}

const struct quake_variant KERNEL_COUNTED(quake_rows) = {.name = "rows", .run = rows_run};
