/* SPDX-License-Identifier: BSD-3-Clause */
/* The definition: each element is the product of a row and a column. The column is read with the stride of a row. */
#include "kernels/gemm/gemm.h"

static float dot(const float *row, const float *column, size_t k, size_t stride) {
	float sum = 0;
	for (size_t p = 0; p < k; p++)
		sum += row[p] * column[p * stride];
	return sum;
}

static float dot16(const uint16_t *row, const uint16_t *column, size_t k, size_t stride, enum gemm_type type) {
	float sum = 0;
	for (size_t p = 0; p < k; p++)
		sum += gemm_widen(row[p], type) * gemm_widen(column[p * stride], type);
	return sum;
}

static float dot8(const uint8_t *row, const uint8_t *column, size_t k, size_t stride) {
	float sum = 0;
	for (size_t p = 0; p < k; p++)
		sum += gemm_widen(row[p], GEMM_F8) * gemm_widen(column[p * stride], GEMM_F8);
	return sum;
}

static void naive_run(struct gemm_state *s) {
	const size_t m = s->shape.m, n = s->shape.n, k = s->shape.k;
	const enum gemm_type type = s->type;
	const float *a = s->a, *b = s->b;
	const uint16_t *a16 = s->a16, *b16 = s->b16;
	float *c = s->c;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < n; j++)
			c[i * n + j] = type == GEMM_F32  ? dot(a + i * k, b + j, k, n)
			               : type == GEMM_F8 ? dot8(s->a8 + i * k, s->b8 + j, k, n)
			                                 : dot16(a16 + i * k, b16 + j, k, n, type);
}

const struct gemm_variant gemm_naive = {.name = "naive", .run = naive_run};
