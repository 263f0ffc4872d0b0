/* SPDX-License-Identifier: BSD-3-Clause */
/* A team is started and joined: an empty parallel region (Bull, "Measuring Synchronisation and Scheduling Overheads in
 * OpenMP", 1999), but for each thread's mark that it was there. */
#include <omp.h>

#include "kernels/ceiling/ceiling.h"

static void fork_join_run(struct ceiling_job *job) {
	struct ceiling_slot *slots = job->slots;
	int threads = job->threads;
	for (int thread = 0; thread < threads; thread++)
		slots[thread].sum = 0;
	for (int64_t i = 0; i < job->n; i++) {
#pragma omp parallel num_threads(threads)
		slots[omp_get_thread_num()].sum++;
	}
}

static bool fork_join_right(const struct ceiling_job *job, int thread) {
	return job->slots[thread].sum == (uint64_t)job->n;
}

const struct ceiling ceiling_fork_join = {
	.name = "fork_join",
	.op = "region",
	.rate = &ceiling_cost,
	.n_max = 1 << 24,
	.ops = ceiling_repetitions,
	.run = fork_join_run,
	.right = fork_join_right,
};
