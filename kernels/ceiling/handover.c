/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache line goes to and fro between two threads; an operation is one way. */
#include <omp.h>
#include <sched.h>

#include "kernels/ceiling/ceiling.h"

enum { PATIENCE = 100000 }; /* looks before the other is taken to wait for this processor */

static void await(_Atomic int64_t *ball, int64_t turn) {
	for (int looks = 0; atomic_load_explicit(ball, memory_order_acquire) != turn; looks++)
		if (looks == PATIENCE) {
			sched_yield();
			looks = 0;
		}
}

static void play(const struct ceiling_job *job, _Atomic int64_t *ball, int thread, int64_t first) {
	uint64_t caught = 0;
	for (int64_t turn = first; turn < 2 * job->n; turn += 2, caught++) {
		await(ball, turn);
		atomic_store_explicit(ball, turn + 1, memory_order_release);
	}
	job->slots[thread].sum = caught;
}

static void handover_run(struct ceiling_job *job) {
	_Atomic int64_t *ball = &job->slots[job->from].ball;
	int from = job->from, to = job->to;
	atomic_store(ball, 0);
#pragma omp parallel num_threads(job->threads)
	{
		int thread = omp_get_thread_num();
		if (thread == from || thread == to)
			play(job, ball, thread, thread == to);
	}
}

static bool handover_right(const struct ceiling_job *job, int thread) {
	uint64_t wanted = thread == job->from || thread == job->to ? (uint64_t)job->n : 0;
	int64_t ball = atomic_load(&job->slots[job->from].ball);
	return job->slots[thread].sum == wanted && ball == 2 * job->n;
}

static double handover_ops(const struct ceiling_job *job) {
	return 2 * (double)job->n;
}

const struct ceiling ceiling_handover = {
	.name = "handover",
	.op = "handover",
	.rate = &ceiling_latency,
	.n_max = 1 << 24,
	.pair = 1,
	.ops = handover_ops,
	.run = handover_run,
	.right = handover_right,
};
