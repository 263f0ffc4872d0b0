/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused multiply-add in double precision, or a multiplication and an addition if the instruction set lacks it: two
 * operations. */
#include <config.h>

#include "kernels/ceiling/ceiling.h"

static double fp64_ops(const struct ceiling_job *job) {
	double lanes = (double)(job->isa->vector / sizeof(double));
	return 2 * lanes * CEILING_CHAINS * (double)job->n * (double)job->threads;
}

static void fp64_part(const struct ceiling_job *job, int thread) {
	job->isa->fp64((double *)job->slots[thread].chains, job->n);
}

static bool fp64_right(const struct ceiling_job *job, int thread) {
	const double *found = (const double *)job->slots[thread].chains;
	size_t lanes = job->isa->vector / sizeof *found, i = 0;
	while (i < CEILING_CHAINS * lanes &&
	       found[i] == (double)ceiling_oracle_chain((int64_t)(i / lanes), job->n, INT64_MAX))
		i++;
	return i == CEILING_CHAINS * lanes;
}

const struct ceiling ceiling_fp64 = {
	.name = "fp64",
	.op = "floating-point operation",
	.rate = &ceiling_flops,
	.n_max = 1 << 30,
	.ops = fp64_ops,
	.part = fp64_part,
	.right = fp64_right,
};
