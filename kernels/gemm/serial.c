/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops that a programmer without threads would write: rows of B are added to rows of C, so that memory is read in
 * its order. */
#include <config.h>
#include <string.h>

#include "kernels/gemm/gemm.h"

static void serial_run(struct gemm_state *s) {
	const struct gemm_shape *shape = &s->shape;
	for (size_t i = 0; i < shape->m; i++) {
		float *row = s->c + i * shape->n;
		memset(row, 0, shape->n * sizeof *row);
		for (size_t p = 0; p < shape->k; p++)
			gemm_add(row, s->b + p * shape->n, s->a[i * shape->k + p], shape->n);
	}
}

const struct gemm_variant gemm_serial = {.name = "serial", .run = serial_run};
