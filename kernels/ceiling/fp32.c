/* SPDX-License-Identifier: BSD-3-Clause */
/* Fused multiply-add in single precision, or a multiplication and an addition if the instruction set lacks it: two
 * operations. */
#include <config.h>

#include "kernels/ceiling/ceiling.h"

static double fp32_ops(const struct ceiling_job *job) {
	double lanes = (double)(job->isa->vector / sizeof(float));
	return 2 * lanes * CEILING_CHAINS * (double)job->n * (double)job->threads;
}

static void fp32_part(const struct ceiling_job *job, int thread) {
	job->isa->fp32((float *)job->slots[thread].chains, job->n);
}

static bool fp32_right(const struct ceiling_job *job, int thread) {
	const float *found = (const float *)job->slots[thread].chains;
	size_t lanes = job->isa->vector / sizeof *found, i = 0;
	while (i < CEILING_CHAINS * lanes &&
	       found[i] == (float)ceiling_oracle_chain((int64_t)(i / lanes), job->n, INT64_MAX))
		i++;
	return i == CEILING_CHAINS * lanes;
}

const struct ceiling ceiling_fp32 = {
	.name = "fp32",
	.op = "floating-point operation",
	.rate = &ceiling_flops,
	.n_max = 1 << 23, /* whole numbers up to 2^24 are exact */
	.ops = fp32_ops,
	.part = fp32_part,
	.right = fp32_right,
};
