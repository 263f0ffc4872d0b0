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

/* The serial code with its rows shared out among the threads. */

static void rows_run(struct gemm_state *s) {
	const struct gemm_state own = *s; /* no row of C can change it */
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < own.shape.m; i++)
		gemm_row(&own, i);
}

const struct gemm_variant gemm_rows = {.name = "rows", .run = rows_run};

/* The loops that a programmer without threads would write: rows of B are added to rows of C, so that memory is read in
 * its order. */

static void serial_run(struct gemm_state *s) {
	for (size_t i = 0; i < s->shape.m; i++)
		gemm_row(s, i);
}

const struct gemm_variant gemm_serial = {.name = "serial", .run = serial_run};

/* Loops over blocks: `depth` rows of `block` columns of B stay in the cache for `block` rows of A (Lam, Rothberg and
 * Wolf, "The cache performance and optimizations of blocked algorithms", 1991). */

static size_t least(size_t x, size_t y) {
	return x < y ? x : y;
}

static void block_run(const struct gemm_state *s, size_t first) {
	const size_t n = s->shape.n, k = s->shape.k, end = least(first + s->block, s->shape.m);
	memset(s->c + first * n, 0, (end - first) * n * sizeof *s->c);
	for (size_t p0 = 0; p0 < k; p0 += s->depth)
		for (size_t j = 0; j < n; j += s->block)
			for (size_t i = first; i < end; i++)
				for (size_t p = p0; p < least(p0 + s->depth, k); p++)
					gemm_add(s->c + i * n + j, s->b + p * n + j, s->a[i * k + p], least(s->block, n - j));
}

static void tiled_run(struct gemm_state *s) {
	const size_t m = s->shape.m, block = s->block;
#pragma omp parallel for schedule(runtime)
	for (size_t i = 0; i < m; i += block)
		block_run(s, i);
}

const struct gemm_variant gemm_tiled = {.name = "tiled", .f32_only = true, .run = tiled_run};
