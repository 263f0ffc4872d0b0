/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition: each element is the product of a row and a column. The column is read with the stride of a row. */
#include <config.h>

#include "kernels/gemm/gemm.h"

static void naive_run16(const struct gemm_state *s) {
	const size_t m = s->shape.m, n = s->shape.n, k = s->shape.k;
	const uint16_t *a = s->a16, *b = s->b16;
	const enum gemm_type type = s->type;
	float *c = s->c;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			float sum = 0;
			for (size_t p = 0; p < k; p++)
				sum += gemm_widen(a[i * k + p], type) * gemm_widen(b[p * n + j], type);
			c[i * n + j] = sum;
		}
}

static void naive_run(struct gemm_state *s) {
	if (s->type != GEMM_F32) {
		naive_run16(s);
		return;
	}
	const size_t m = s->shape.m, n = s->shape.n, k = s->shape.k;
	const float *a = s->a, *b = s->b;
	float *c = s->c;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++) {
			float sum = 0;
			for (size_t p = 0; p < k; p++)
				sum += a[i * k + p] * b[p * n + j];
			c[i * n + j] = sum;
		}
}

const struct gemm_variant gemm_naive = {.name = "naive", .run = naive_run};
