/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of arithmetic.cu. Additions of whole numbers, so that an answer is a sum, or a limit. */
#include <config.h>

#include <stdlib.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

enum { CHAINS = CEILING_CUDA_CHAINS, START = 1021, STEPS_EXACT = 1 << 23 /* whole numbers in a float */ };

/* n, in whole turns of the loop. */
static int steps(const struct ceiling_cuda_job *job) {
	return (int)((job->n + CEILING_CUDA_UNROLL - 1) / CEILING_CUDA_UNROLL * CEILING_CUDA_UNROLL);
}

/* Some chains meet the limit, the others do not. */
static int limit(const struct ceiling_cuda_job *job) {
	return steps(job) + START / 2;
}

static int start(size_t i) {
	return (int)(i / CHAINS % START + i % CHAINS);
}

static int expected(const struct ceiling_cuda_job *job, int from) {
	return from + steps(job) < limit(job) ? from + steps(job) : limit(job);
}

static double chain_ops(const struct ceiling_cuda_job *job) {
	return (double)job->threads * CHAINS * (double)steps(job);
}
static double flops(const struct ceiling_cuda_job *job) {
	return 2 * chain_ops(job);
}
static size_t words(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * CHAINS * 4;
}
static size_t reals(const struct ceiling_cuda_job *job) {
	return 2 * words(job);
}

static void addmin_run(struct ceiling_cuda_job *job) {
	int one = 1, most = limit(job), count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &most, &count, NULL});
}

static bool addmin_right(struct ceiling_cuda_job *job) {
	const int32_t *found = ceiling_cuda_answer(job);
	size_t i = 0, count = job->out_size / sizeof *found;
	while (found && i < count && found[i] == expected(job, start(i)))
		i++;
	free((void *)found);
	return i == count;
}

static void addmin2_run(struct ceiling_cuda_job *job) {
	unsigned one = 0x10001, most = (unsigned)limit(job) << 16 | (unsigned)limit(job);
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &most, &count, NULL});
}

static bool addmin2_right(struct ceiling_cuda_job *job) {
	const uint32_t *found = ceiling_cuda_answer(job);
	size_t i = 0, count = job->out_size / sizeof *found;
	while (found && i < count &&
	       found[i] == ((unsigned)expected(job, start(i) + 1) << 16 | (unsigned)expected(job, start(i))))
		i++;
	free((void *)found);
	return i == count;
}

static double addmin2_ops(const struct ceiling_cuda_job *job) {
	return 2 * chain_ops(job);
}

static void fp32_run(struct ceiling_cuda_job *job) {
	float one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

static bool fp32_right(struct ceiling_cuda_job *job) {
	const float *found = ceiling_cuda_answer(job);
	size_t i = 0, count = job->out_size / sizeof *found;
	while (found && i < count && found[i] == (float)(start(i) + steps(job)))
		i++;
	free((void *)found);
	return i == count;
}

static void fp64_run(struct ceiling_cuda_job *job) {
	double one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

static bool fp64_right(struct ceiling_cuda_job *job) {
	const double *found = ceiling_cuda_answer(job);
	size_t i = 0, count = job->out_size / sizeof *found;
	while (found && i < count && found[i] == (double)(start(i) + steps(job)))
		i++;
	free((void *)found);
	return i == count;
}

#define SOURCE "ceiling/cuda/arithmetic.cu"

const struct ceiling_cuda ceiling_cuda_addmin = {
	.name = "addmin",
	.op = "pair",
	.source = SOURCE,
	.function = "ceiling_addmin",
	.rate = &ceiling_pairs,
	.n_max = 1 << 30,
	.out_size = words,
	.ops = chain_ops,
	.run = addmin_run,
	.right = addmin_right,
};
const struct ceiling_cuda ceiling_cuda_addmin2 = {
	.name = "addmin2",
	.op = "pair",
	.source = SOURCE,
	.function = "ceiling_addmin2",
	.rate = &ceiling_pairs,
	.n_max = 30000,
	.out_size = words,
	.ops = addmin2_ops,
	.run = addmin2_run,
	.right = addmin2_right,
};
const struct ceiling_cuda ceiling_cuda_fp32 = {
	.name = "fp32",
	.op = "flop",
	.source = SOURCE,
	.function = "ceiling_fp32",
	.rate = &ceiling_flops,
	.n_max = STEPS_EXACT,
	.out_size = words,
	.ops = flops,
	.run = fp32_run,
	.right = fp32_right,
};
const struct ceiling_cuda ceiling_cuda_fp64 = {
	.name = "fp64",
	.op = "flop",
	.source = SOURCE,
	.function = "ceiling_fp64",
	.rate = &ceiling_flops,
	.n_max = 1 << 30,
	.out_size = reals,
	.ops = flops,
	.run = fp64_run,
	.right = fp64_right,
};
