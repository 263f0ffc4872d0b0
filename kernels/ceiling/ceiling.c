/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: one of the ceilings, measured as any kernel is. */
#include <config.h>
#include <omp.h>

#include "kernels/fail.h"
#include "kernels/ceiling/ceiling.h"

static const struct ss_param problem[] = {
	{"what", "the ceiling", SS_WORD, "read,copy,triad,fp32,fp64,addmin,handover,fork_join,barrier,reduction,task",
     "read", NULL, 0, 0},
	{"n", "working set of each thread in bytes; repetitions for other ceilings", SS_INT, NULL, "16384", NULL, 1,
     0x1p36},
	{"from", "first thread of a handover", SS_INT, NULL, "0", NULL, 0, 65535},
	{"to", "second thread of a handover", SS_INT, NULL, "1", NULL, 0, 65535},
	{.name = NULL},
};

static const struct ss_param params[] = {
	{"isa", "instruction set", SS_WORD, "best,avx512,avx2,sse41,generic", "best", NULL, 0, 0},
	{"stores", "stores through the caches, or past them to memory", SS_WORD, "plain,stream", "plain",
     "what == 'copy' or what == 'triad'", 0, 0},
	{.name = NULL},
};

static enum ss_status ceiling_open(void *input, const struct ss_call *call) {
	struct ceiling_job job;
	(void)input;
	enum ss_status status = ceiling_job_read(&job, call);
	if (status != SS_OK || call->problem[1].i <= job.ceiling->n_max)
		return status;
	return kernel_fail(call, SS_INVALID, "n must be at most %lld for %s", (long long)job.ceiling->n_max,
	                   job.ceiling->name);
}

static bool is_pair(const struct ceiling_job *job) {
	return job->from < job->threads && job->to < job->threads && job->from != job->to;
}

static enum ss_status ceiling_setup(void *state, void *input, const struct ss_call *call) {
	struct ceiling_job *job = state;
	(void)input;
	enum ss_status status = ceiling_job_read(job, call);
	if (status == SS_OK && job->ceiling->pair && !is_pair(job))
		return kernel_fail(call, SS_INVALID, "from and to must be two of the %d threads", job->threads);
	if (status == SS_OK)
		status = ceiling_memory_new(job, call);
	if (status != SS_OK || !job->ceiling->fill)
		return status;
#pragma omp parallel for num_threads(job->threads) schedule(static, 1)
	for (int thread = 0; thread < job->threads; thread++)
		job->ceiling->fill(job, thread);
	return SS_OK;
}

static enum ss_status ceiling_run(void *state, const struct ss_call *call) {
	struct ceiling_job *job = state;
	(void)call;
	if (job->ceiling->run) {
		job->ceiling->run(job);
		return SS_OK;
	}
#pragma omp parallel num_threads(job->threads)
	job->ceiling->part(job, omp_get_thread_num());
	return SS_OK;
}

static enum ss_status ceiling_verify(void *state, const struct ss_call *call) {
	const struct ceiling_job *job = state;
	int wrong = job->threads;
#pragma omp parallel for num_threads(job->threads) schedule(static, 1) reduction(min : wrong)
	for (int thread = 0; thread < job->threads; thread++)
		if (!job->ceiling->right(job, thread) && thread < wrong)
			wrong = thread;
	if (wrong == job->threads)
		return SS_OK;
	return kernel_wrong(call, "%s: thread %d has a wrong result", job->ceiling->name, wrong);
}

static struct ss_work ceiling_work(const struct ss_call *call) {
	struct ceiling_job job;
	if (ceiling_job_read(&job, call) != SS_OK)
		return (struct ss_work){.op = "operation"};
	double ops = job.ceiling->ops(&job);
	return (struct ss_work){.ops = ops, .bytes = job.ceiling->arrays ? ops : 0, .op = job.ceiling->op};
}

static size_t ceiling_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                              size_t most) {
	const struct ceiling_job *job = state;
	const struct ceiling_rate *rate = job->ceiling->rate;
	double ops = job->ceiling->ops(job);
	(void)call;
	if (most < 1 || !(seconds > 0))
		return 0;
	out[0] = (struct ss_figure){rate->name, rate->scale * (rate->time ? seconds / ops : ops / seconds), rate->unit};
	return 1;
}

static void ceiling_teardown(void *state) {
	ceiling_memory_free(state);
}

static void ceiling_close(void *input) {
	(void)input;
}

const struct ss_kernel kernel_ceiling = {
	.abi = SS_KERNEL_ABI,
	.name = "ceiling",
	.summary = "limits of this machine: bandwidths, arithmetic peaks, costs of OpenMP",
	.flags = SS_OPENMP | SS_TEAM_GIVEN,
	.problem = problem,
	.params = params,
	.input_size = 1,
	.state_size = sizeof(struct ceiling_job),
	.open = ceiling_open,
	.setup = ceiling_setup,
	.run = ceiling_run,
	.verify = ceiling_verify,
	.work = ceiling_work,
	.figures = ceiling_figures,
	.teardown = ceiling_teardown,
	.close = ceiling_close,
};
