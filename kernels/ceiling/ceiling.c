/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: one of the ceilings, measured as any kernel is. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/ceiling/ceiling.h"
#include "kernels/fail.h"
#include "kernels/pages.h"

/* Turns a call into a job, and holds the code that the ceilings share. */

enum { PROBLEM_WHAT, PROBLEM_N, PROBLEM_FROM, PROBLEM_TO };
enum { PARAM_ISA, PARAM_STORES };

/* The order is that of the words of `what`. */
static const struct ceiling *const ceilings[] = {
	&ceiling_read,     &ceiling_copy,      &ceiling_triad,   &ceiling_fp32,      &ceiling_fp64, &ceiling_addmin,
	&ceiling_handover, &ceiling_fork_join, &ceiling_barrier, &ceiling_reduction, &ceiling_task,
};

const struct ceiling_rate ceiling_bandwidth = {"bandwidth", "GB/s", 1e-9, false};
const struct ceiling_rate ceiling_flops = {"rate", "GFLOP/s", 1e-9, false};
const struct ceiling_rate ceiling_pairs = {"rate", "Gpair/s", 1e-9, false};
const struct ceiling_rate ceiling_latency = {"latency", "ns", 1e9, true};
const struct ceiling_rate ceiling_cost = {"cost", "us", 1e6, true};

/* The named one of the table's entries behind "best", which is the first that is usable; NULL if there is none. */
static const struct ceiling_isa *isa_find(int64_t word) {
	static const char *const names[] = {NULL, "avx512", "avx2", "sse41", "generic"};
	const char *name = names[word];
	for (const struct ceiling_isa *isa = ceiling_isas; isa->name; isa++)
		if (isa->usable() && (!name || strcmp(isa->name, name) == 0))
			return isa;
	return NULL;
}

static size_t whole_units(int64_t bytes) {
	return ((size_t)bytes + CEILING_UNIT - 1) / CEILING_UNIT * CEILING_UNIT;
}

static void sizes_set(struct ceiling_job *job) {
	int arrays = job->ceiling->arrays;
	if (arrays == 0)
		return;
	job->size = whole_units((job->n + arrays - 1) / arrays);
	job->passes = CEILING_PASS_BYTES / ((size_t)arrays * job->size);
	job->passes += job->passes == 0;
}

/* Reads a call; SS_INVALID with a message. */
static enum ss_status ceiling_job_read(struct ceiling_job *job, const struct ss_call *call) {
	*job = (struct ceiling_job){.n = call->problem[PROBLEM_N].i, .threads = call->threads};
	job->ceiling = ceilings[call->problem[PROBLEM_WHAT].i];
	job->isa = isa_find(call->config[PARAM_ISA].i);
	job->stream = call->config[PARAM_STORES].i == 1;
	job->from = (int)call->problem[PROBLEM_FROM].i;
	job->to = (int)call->problem[PROBLEM_TO].i;
	if (!job->isa)
		return kernel_fail(call, SS_INVALID, "this processor, or this build, does not support that instruction set");
	if (job->stream && job->ceiling->arrays > 1 && !job->isa->copy[1])
		return kernel_fail(call, SS_INVALID, "%s cannot store past the caches here", job->isa->name);
	sizes_set(job);
	return SS_OK;
}

/* Maps fresh pages for every job, so that the threads that fill them place them; large ones if the system has them. */

enum { PAGE = 4096, LARGE_PAGE = 2 << 20 };

static size_t round_up(size_t size, size_t unit) {
	return (size + unit - 1) / unit * unit;
}

static double memory_total(void) {
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Sets of a few pages lie one behind the other: at multiples of a large page they would all be in the same lines of a
 * shared cache. */
static enum ss_status arrays_new(struct ceiling_job *job) {
	size_t set = (size_t)job->ceiling->arrays * job->size;
	job->stride = round_up(set, set < LARGE_PAGE ? PAGE : LARGE_PAGE);
	job->mapped = (size_t)job->threads * job->stride + LARGE_PAGE;
	void *base = kernel_pages_new(job->mapped);
	if (!base)
		return SS_NOMEM;
	job->base = base;
	job->memory = job->base + (LARGE_PAGE - (uintptr_t)base % LARGE_PAGE) % LARGE_PAGE;
#ifdef MADV_HUGEPAGE
	madvise(job->memory, job->mapped - (size_t)(job->memory - job->base), MADV_HUGEPAGE);
#endif
	return SS_OK;
}

/* SS_NOMEM, or SS_INVALID with a message if it exceeds half of the machine's memory. */
static enum ss_status ceiling_memory_new(struct ceiling_job *job, const struct ss_call *call) {
	double wanted = (double)job->threads * (double)job->ceiling->arrays * (double)job->size;
	if (wanted > memory_total() / 2)
		return kernel_fail(call, SS_INVALID, "%d times %lld bytes are more than half of the memory here", job->threads,
		                   (long long)job->n);
	size_t size = (size_t)job->threads * sizeof *job->slots;
	job->slots = aligned_alloc(CEILING_LINE, size);
	if (!job->slots)
		return SS_NOMEM;
	memset(job->slots, 0, size);
	return job->ceiling->arrays ? arrays_new(job) : SS_OK;
}

static void ceiling_memory_free(void *opaque) {
	struct ceiling_job *job = opaque;
	kernel_pages_free(job->base, job->mapped);
	free(job->slots);
}

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

size_t ceiling_figure(const struct ceiling_rate *rate, double ops, double seconds, struct ss_figure *out, size_t most) {
	if (most < 1 || !(seconds > 0))
		return 0;
	out[0] = (struct ss_figure){rate->name, rate->scale * (rate->time ? seconds / ops : ops / seconds), rate->unit};
	return 1;
}

static size_t ceiling_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                              size_t most) {
	const struct ceiling_job *job = state;
	(void)call;
	return ceiling_figure(job->ceiling->rate, job->ceiling->ops(job), seconds, out, most);
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
	.teardown = ceiling_memory_free,
};
