/* SPDX-License-Identifier: BSD-3-Clause */
/* An addition and a minimum of 32-bit integers, the parts of a shortest path's relaxation. */
#include "kernels/ceiling/ceiling.h"

/* The minimum takes the limit in the last chains and the sum in the others, so that both are needed. */
static int64_t limit(const struct ceiling_job *job) {
	return job->n + CEILING_CHAINS / 2;
}

static double addmin_ops(const struct ceiling_job *job) {
	double lanes = (double)(job->isa->vector / sizeof(int32_t));
	return lanes * CEILING_CHAINS * (double)job->n * (double)job->threads;
}

static void addmin_part(const struct ceiling_job *job, int thread) {
	job->isa->addmin((int32_t *)job->slots[thread].chains, (int32_t)limit(job), job->n);
}

static bool addmin_right(const struct ceiling_job *job, int thread) {
	const int32_t *found = (const int32_t *)job->slots[thread].chains;
	size_t lanes = job->isa->vector / sizeof *found, i = 0;
	while (i < CEILING_CHAINS * lanes && found[i] == ceiling_oracle_chain((int64_t)(i / lanes), job->n, limit(job)))
		i++;
	return i == CEILING_CHAINS * lanes;
}

const struct ceiling ceiling_addmin = {
	.name = "addmin",
	.op = "pair",
	.rate = &ceiling_pairs,
	.n_max = 1 << 30,
	.ops = addmin_ops,
	.part = addmin_part,
	.right = addmin_right,
};
