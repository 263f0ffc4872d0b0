/* SPDX-License-Identifier: BSD-3-Clause */
/* The serial code with its rows shared out among the threads. */
#include <config.h>
#include <string.h>

#include "kernels/gemm/gemm.h"

static void rows_run(struct gemm_state *s) {
	const size_t m = s->shape.m, n = s->shape.n, k = s->shape.k;
	const float *a = s->a, *b = s->b;
	float *c = s->c;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i++) {
		memset(c + i * n, 0, n * sizeof *c);
		for (size_t p = 0; p < k; p++)
			gemm_add(c + i * n, b + p * n, a[i * k + p], n);
	}
}

const struct gemm_variant gemm_rows = {.name = "rows", .run = rows_run};
