/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/ceiling/ceiling.h"

static void barrier_part(const struct ceiling_job *job, int thread) {
	uint64_t *passed = &job->slots[thread].sum;
	*passed = 0;
	for (int64_t i = 0; i < job->n; i++) {
		++*passed;
#pragma omp barrier
	}
}

static bool barrier_right(const struct ceiling_job *job, int thread) {
	return job->slots[thread].sum == (uint64_t)job->n;
}

const struct ceiling ceiling_barrier = {
	.name = "barrier",
	.op = "barrier",
	.rate = &ceiling_cost,
	.n_max = 1 << 24,
	.ops = ceiling_repetitions,
	.part = barrier_part,
	.right = barrier_right,
};
