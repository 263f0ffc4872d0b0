/* SPDX-License-Identifier: BSD-3-Clause */
/* A team is started, its threads' numbers are added up, and it is joined (as Bull's REDUCTION). */
#include <omp.h>

#include "kernels/ceiling/ceiling.h"

static void reduction_run(struct ceiling_job *job) {
	double sum = 0;
	int threads = job->threads;
	for (int64_t i = 0; i < job->n; i++) {
#pragma omp parallel num_threads(threads) reduction(+ : sum)
		sum += omp_get_thread_num() + 1;
	}
	job->sum = sum;
}

static bool reduction_right(const struct ceiling_job *job, int thread) {
	double threads = job->threads;
	(void)thread;
	return job->sum == (double)job->n * threads * (threads + 1) / 2;
}

const struct ceiling ceiling_reduction = {
	.name = "reduction",
	.op = "reduction",
	.rate = &ceiling_cost,
	.n_max = 1 << 24,
	.ops = ceiling_repetitions,
	.run = reduction_run,
	.right = reduction_right,
};
