/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: one of a GPU's ceilings, measured as any kernel is. */
#include <stdlib.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

extern const struct ss_kernel kernel_ceiling_cuda;

enum { PROBLEM_WHAT, PROBLEM_N };
enum { PARAM_BLOCK, PARAM_PER_SM };
enum {
	PASS_BYTES = 8 << 20 /* that each SM moves at least in a run, so that starting it is small beside it */,
	PASSES_MAX = 1024
};

static const struct ss_param problem[] = {
	{"what", "the ceiling", SS_WORD,
     "read,copy,triad,fp32,fp64,addmin,addmin2,shared,upload,download,upload_pageable,download_pageable,launch,round_"
     "trip,"
     "atomic_one,atomic_many,barrier",
     "read", NULL, 0, 0},
	{"n", "working set in bytes; repetitions for other ceilings", SS_INT, NULL, "65536", NULL, 1, 0x1p40},
	{.name = NULL},
};

#define LAUNCHED                                                                                                       \
	"what != 'upload' and what != 'download' and what != 'upload_pageable' and what != 'download_pageable'"            \
	" and what != 'launch' and what != 'round_trip'"

static const struct ss_param params[] = {
	{"block", "threads of a block", SS_INT, "128,256,512,1024", "512", LAUNCHED, 32, 1024},
	{"per_sm", "blocks that are started for each SM", SS_INT, "1,2,4,8,16", "4", LAUNCHED, 1, 64},
	{.name = NULL},
};

/* The order is that of the words of `what`. */
static const struct ceiling_cuda *const ceilings[] = {
	&ceiling_cuda_read,    &ceiling_cuda_copy,       &ceiling_cuda_triad,           &ceiling_cuda_fp32,
	&ceiling_cuda_fp64,    &ceiling_cuda_addmin,     &ceiling_cuda_addmin2,         &ceiling_cuda_shared,
	&ceiling_cuda_upload,  &ceiling_cuda_download,   &ceiling_cuda_upload_pageable, &ceiling_cuda_download_pageable,
	&ceiling_cuda_start,   &ceiling_cuda_round_trip, &ceiling_cuda_atomic_one,      &ceiling_cuda_atomic_many,
	&ceiling_cuda_barrier,
};

const struct ceiling_rate ceiling_cuda_adds = {"rate", "Gadd/s", 1e-9, false};

static void sizes_set(struct ceiling_cuda_job *job, unsigned sms) {
	int arrays = job->ceiling->arrays;
	if (arrays == 0)
		return;
	size_t units = ((size_t)((job->n + arrays - 1) / arrays) + CEILING_CUDA_UNIT - 1) / CEILING_CUDA_UNIT;
	job->size = units * CEILING_CUDA_UNIT;
	job->passes = job->ceiling->function ? (size_t)sms * PASS_BYTES / ((size_t)arrays * job->size) : 1;
	job->passes = job->passes < 1 ? 1 : job->passes > PASSES_MAX ? PASSES_MAX : job->passes;
}

/* Without a GPU it counts one SM, because the work of a run is also asked for then. */
static enum ss_status job_read(struct ceiling_cuda_job *job, const struct ss_call *call) {
	unsigned sms = call->gpu ? (unsigned)gpu_facts(call->gpu)->sms : 1;
	*job = (struct ceiling_cuda_job){.gpu = call->gpu,
	                                 .n = call->problem[PROBLEM_N].i,
	                                 .block = (unsigned)call->config[PARAM_BLOCK].i,
	                                 .grid = (unsigned)call->config[PARAM_PER_SM].i * sms};
	job->ceiling = ceilings[call->problem[PROBLEM_WHAT].i];
	job->threads = job->block * job->grid;
	if (job->n > job->ceiling->n_max)
		return kernel_fail(call, SS_INVALID, "n must be at most %lld for %s", (long long)job->ceiling->n_max,
		                   job->ceiling->name);
	sizes_set(job, sms);
	return SS_OK;
}

double ceiling_cuda_bytes(const struct ceiling_cuda_job *job) {
	return (double)job->passes * (double)job->ceiling->arrays * (double)job->size;
}

void *ceiling_cuda_answer(struct ceiling_cuda_job *job) {
	void *answer = malloc(job->out_size ? job->out_size : 1);
	if (answer && job->out_size)
		gpu_download(job->gpu, answer, job->out, job->out_size);
	if (answer && gpu_is_fine(job->gpu))
		return answer;
	free(answer);
	return NULL;
}

void ceiling_cuda_launch(struct ceiling_cuda_job *job, unsigned grid, unsigned block, unsigned shared,
                         void *const *arguments) {
	const struct gpu_shape shape = {.grid = {grid}, .block = {block}, .shared = shared};
	gpu_launch(job->gpu, job->function, &shape, arguments);
}

static enum ss_status cuda_open(void *input, const struct ss_call *call) {
	struct ceiling_cuda_job job;
	(void)input;
	return job_read(&job, call);
}

static void cuda_program_of(const struct ss_call *call, struct ss_program *program) {
	struct ceiling_cuda_job job;
	if (job_read(&job, call) == SS_OK)
		program->source = job.ceiling->source;
}

static void memory_make(struct ceiling_cuda_job *job) {
	const struct ceiling_cuda *ceiling = job->ceiling;
	job->out_size = ceiling->out_size ? ceiling->out_size(job) : 0;
	job->out = gpu_alloc(job->gpu, job->out_size);
	for (int i = 0; i < ceiling->arrays; i++)
		job->array[i] = gpu_alloc(job->gpu, job->size);
	gpu_fill8(job->gpu, job->out, 0, job->out_size);
}

static enum ss_status cuda_setup(void *state, void *input, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	(void)input;
	enum ss_status status = job_read(job, call);
	if (status != SS_OK)
		return status;
	job->module = cuda_program(&kernel_ceiling_cuda, call);
	if (job->ceiling->function)
		job->function = gpu_function(job->gpu, job->module, job->ceiling->function);
	memory_make(job);
	if (gpu_is_fine(job->gpu) && job->ceiling->setup)
		status = job->ceiling->setup(job, call);
	return status == SS_OK ? cuda_status(call) : status;
}

static enum ss_status cuda_run(void *state, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	job->ceiling->run(job);
	job->runs++;
	return gpu_is_fine(job->gpu) ? SS_OK : cuda_status(call);
}

static enum ss_status cuda_verify(void *state, const struct ss_call *call) {
	struct ceiling_cuda_job *job = state;
	bool right = job->ceiling->right(job);
	enum ss_status status = cuda_status(call);
	return status != SS_OK || right ? status : kernel_wrong(call, "%s: the GPU's answer is wrong", job->ceiling->name);
}

static struct ss_work cuda_work(const struct ss_call *call) {
	struct ceiling_cuda_job job;
	if (job_read(&job, call) != SS_OK)
		return (struct ss_work){.op = "operation"};
	double ops = job.ceiling->ops(&job);
	return (struct ss_work){.ops = ops, .bytes = job.ceiling->arrays ? ops : 0, .op = job.ceiling->op};
}

static size_t cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                           size_t most) {
	const struct ceiling_cuda_job *job = state;
	(void)call;
	return ceiling_figure(job->ceiling->rate, job->ceiling->ops(job), seconds, out, most);
}

static void cuda_teardown(void *state) {
	struct ceiling_cuda_job *job = state;
	if (!job->gpu)
		return;
	gpu_free(job->gpu, job->out);
	for (int i = 0; i < CEILING_CUDA_ARRAYS; i++)
		gpu_free(job->gpu, job->array[i]);
	if (job->pinned)
		gpu_pinned_free(job->gpu, job->host);
	else
		free(job->host);
}

const struct ss_kernel kernel_ceiling_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "ceiling",
	.summary = "limits of this GPU: bandwidths, arithmetic peaks, transfers, costs of launches and atomics",
	.device = "cuda",
	.problem = problem,
	.params = params,
	.input_size = 1,
	.state_size = sizeof(struct ceiling_cuda_job),
	.open = cuda_open,
	.setup = cuda_setup,
	.run = cuda_run,
	.verify = cuda_verify,
	.work = cuda_work,
	.figures = cuda_figures,
	.teardown = cuda_teardown,
	.program = cuda_program_of,
};
