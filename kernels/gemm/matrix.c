/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a state: pages mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are. */
#include <config.h>
#include <omp.h>
#include <string.h>

#include "kernels/gemm/gemm.h"
#include "kernels/pages.h"

enum { PAGE = 4096 };

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

static void rows_touch(float *to, const float *from, size_t rows, size_t columns) {
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++) {
		if (from)
			memcpy(to + i * columns, from + i * columns, columns * sizeof *to);
		else
			memset(to + i * columns, 0, columns * sizeof *to);
	}
}

static void rows_narrow(uint16_t *to, const float *from, size_t rows, size_t columns, enum gemm_type type) {
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < rows; i++)
		gemm_narrow_all(to + i * columns, from + i * columns, columns, type);
}

static void layout(struct gemm_state *s) {
	const struct gemm_shape *shape = &s->shape;
	s->bytes[0] = shape->m * shape->k * gemm_element_size(s->type);
	s->bytes[1] = shape->k * shape->n * gemm_element_size(s->type);
	s->bytes[2] = shape->m * shape->n * sizeof(float);
	if (!s->variant->packs)
		return;
	s->block = round_up(s->block, s->isa->rows);
	s->bytes[3] = s->depth * round_up(shape->n, s->isa->columns) * sizeof(float);
	s->bytes[4] = round_up(s->depth * s->block * sizeof(float), PAGE) * (size_t)s->threads;
}

static float **matrix(struct gemm_state *s, int at) {
	float **const all[] = {&s->a, &s->b, &s->c, &s->panel_b, &s->panels_a};
	return all[at];
}

bool gemm_matrices_new(struct gemm_state *s, const struct gemm_input *input) {
	const struct gemm_shape *shape = &s->shape;
	layout(s);
	for (int i = 0; i < 5; i++)
		if (s->bytes[i] && !(*matrix(s, i) = kernel_pages_new(s->bytes[i])))
			return false;
	if (s->type == GEMM_F32) {
		rows_touch(s->a, input->a, shape->m, shape->k);
		rows_touch(s->b, input->b, shape->k, shape->n);
	} else {
		rows_narrow(s->a16, input->a, shape->m, shape->k, s->type);
		rows_narrow(s->b16, input->b, shape->k, shape->n, s->type);
	}
	rows_touch(s->c, NULL, shape->m, shape->n);
	return true;
}

void gemm_matrices_free(struct gemm_state *s) {
	for (int i = 0; i < 5; i++)
		kernel_pages_free(*matrix(s, i), s->bytes[i]);
}
