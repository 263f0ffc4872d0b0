/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of Freivalds ("Probabilistic machines can use less running time", 1977): C x = A (B x) for random x takes
 * three products of a matrix and a vector in the place of one of two matrices. Modulo 2^64 nothing is rounded, and a
 * row that is wrong is missed with a probability below 2^-38, because errors are integers below 2^25. A row that is
 * found is computed again. */
#include <math.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/gemm/gemm.h"
#include "kernels/random.h"

/* The elements are integers. */
static uint64_t exact(float x) {
	return (uint64_t)(int64_t)x;
}

static void product(const float *matrix, size_t rows, size_t columns, const uint64_t *x, uint64_t *to) {
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++) {
		uint64_t sum = 0;
		for (size_t j = 0; j < columns; j++)
			sum += exact(matrix[i * columns + j]) * x[j];
		to[i] = sum;
	}
}

bool gemm_oracle(struct gemm_input *input, uint64_t seed) {
	const struct gemm_shape *shape = &input->shape;
	uint64_t *bx = malloc(shape->k * sizeof *bx);
	free(input->x);
	free(input->abx);
	input->x = malloc(shape->n * sizeof *input->x);
	input->abx = malloc(shape->m * sizeof *input->abx);
	bool enough = bx && input->x && input->abx;
	if (enough) {
		for (size_t j = 0; j < shape->n; j++)
			input->x[j] = kernel_random_at(~seed, j);
		product(input->b, shape->k, shape->n, input->x, bx);
		product(input->a, shape->m, shape->k, bx, input->abx);
	} else {
		free(input->x);
		free(input->abx);
		input->x = input->abx = NULL;
	}
	free(bx);
	return enough;
}

static bool is_whole(float x) {
	return fabsf(x) < 0x1p24f && truncf(x) == x;
}

static bool row_is_right(const struct gemm_input *input, const float *row, size_t i) {
	uint64_t sum = 0;
	for (size_t j = 0; j < input->shape.n; j++) {
		if (!is_whole(row[j]))
			return false;
		sum += exact(row[j]) * input->x[j];
	}
	return sum == input->abx[i];
}

static int64_t expected(const struct gemm_input *input, size_t i, size_t j) {
	const struct gemm_shape *shape = &input->shape;
	int64_t sum = 0;
	for (size_t p = 0; p < shape->k; p++)
		sum += (int64_t)input->a[i * shape->k + p] * (int64_t)input->b[p * shape->n + j];
	return sum;
}

enum ss_status gemm_compare(const struct gemm_input *input, const float *c, size_t stride, const struct ss_call *call) {
	const size_t m = input->shape.m, n = input->shape.n;
	size_t wrong = m;
#pragma omp parallel for reduction(min : wrong)
	for (size_t i = 0; i < m; i++)
		if (i < wrong && !row_is_right(input, c + i * stride, i))
			wrong = i;
	if (wrong == m)
		return SS_OK;
	for (size_t j = 0; j < n; j++) {
		double found = (double)c[wrong * stride + j], right = (double)expected(input, wrong, j);
		if (found != right)
			return kernel_wrong(call, "row %zu column %zu holds %.9g, should be %.9g", wrong, j, found, right);
	}
	return kernel_wrong(call, "row %zu changed while it was verified", wrong);
}
