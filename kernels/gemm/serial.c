/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops that a programmer without threads would write: rows of B are added to rows of C, so that memory is read in
 * its order. */
#include "kernels/gemm/gemm.h"

static void serial_run(struct gemm_state *s) {
	for (size_t i = 0; i < s->shape.m; i++)
		gemm_row(s, i);
}

const struct gemm_variant gemm_serial = {.name = "serial", .run = serial_run};
