/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of OpenMP, most of them as in Bull, "Measuring Synchronisation and Scheduling Overheads in OpenMP", 1999. */
#include <omp.h>
#include <sched.h>

#include "kernels/ceiling/ceiling.h"

static double repetitions(const struct ceiling_job *job) {
	return (double)job->n;
}

static void barrier_part(const struct ceiling_job *job, int thread) {
	uint64_t *passed = &job->slots[thread].sum;
	*passed = 0;
	for (int64_t i = 0; i < job->n; i++) {
		++*passed;
#pragma omp barrier
	}
}

static bool passed_right(const struct ceiling_job *job, int thread) {
	return job->slots[thread].sum == (uint64_t)job->n;
}

/* A team is started and joined: an empty parallel region, but for each thread's mark that it was there. */

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

/* A team is started, its threads' numbers are added up, and it is joined (as Bull's REDUCTION). */

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

/* One thread makes empty tasks, the team runs them: the time of a task (LaGrone, Aribuki, Chapman, "A Set of
 * Microbenchmarks for Measuring OpenMP Task Overheads", 2011). */

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

static bool task_right(const struct ceiling_job *job, int thread) {
	uint64_t count = 0;
	(void)thread;
	for (int each = 0; each < job->threads; each++)
		count += job->slots[each].sum;
	return count == (uint64_t)job->n;
}

/* A cache line goes to and fro between two threads; an operation is one way. */

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

#define COST(word, ...)                                                                                                \
	const struct ceiling ceiling_##word = {                                                                            \
		.name = #word, .op = #word, .rate = &ceiling_cost, .n_max = 1 << 24, .ops = repetitions, __VA_ARGS__}
COST(barrier, .part = barrier_part, .right = passed_right);
COST(reduction, .run = reduction_run, .right = reduction_right);
COST(task, .run = task_run, .right = task_right);
const struct ceiling ceiling_fork_join = {.name = "fork_join",
                                          .op = "region",
                                          .rate = &ceiling_cost,
                                          .n_max = 1 << 24,
                                          .ops = repetitions,
                                          .run = fork_join_run,
                                          .right = passed_right};
const struct ceiling ceiling_handover = {.name = "handover",
                                         .op = "handover",
                                         .rate = &ceiling_latency,
                                         .n_max = 1 << 24,
                                         .pair = 1,
                                         .ops = handover_ops,
                                         .run = handover_run,
                                         .right = handover_right};
