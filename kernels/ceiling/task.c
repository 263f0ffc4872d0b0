/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread makes empty tasks, the team runs them: the time of a task (LaGrone, Aribuki, Chapman, "A Set of
 * Microbenchmarks for Measuring OpenMP Task Overheads", 2011). */
#include <omp.h>

#include "kernels/ceiling/ceiling.h"

static void task_run(struct ceiling_job *job) {
	struct ceiling_slot *slots = job->slots;
	int64_t n = job->n;
	for (int thread = 0; thread < job->threads; thread++)
		slots[thread].sum = 0;
#pragma omp parallel num_threads(job->threads)
#pragma omp single
	for (int64_t i = 0; i < n; i++) {
#pragma omp task default(none) firstprivate(slots)
		slots[omp_get_thread_num()].sum++;
	}
}

/* all threads together were here so often */
static bool ceiling_oracle_counts(const struct ceiling_job *job, uint64_t wanted) {
	uint64_t count = 0;
	for (int thread = 0; thread < job->threads; thread++)
		count += job->slots[thread].sum;
	return count == wanted;
}

static bool task_right(const struct ceiling_job *job, int thread) {
	(void)thread;
	return ceiling_oracle_counts(job, (uint64_t)job->n);
}

const struct ceiling ceiling_task = {
	.name = "task",
	.op = "task",
	.rate = &ceiling_cost,
	.n_max = 1 << 24,
	.ops = ceiling_repetitions,
	.run = task_run,
	.right = task_right,
};
