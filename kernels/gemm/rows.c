/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial code with its rows shared out among the threads. */
#include "kernels/gemm/gemm.h"

static void rows_run(struct gemm_state *s) {
	const struct gemm_state own = *s; /* no row of C can change it */
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < own.shape.m; i++)
		gemm_row(&own, i);
}

const struct gemm_variant gemm_rows = {.name = "rows", .run = rows_run};
