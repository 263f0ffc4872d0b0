/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of arithmetic.cu. Additions of whole numbers, so that an answer is a sum, or a limit. */
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

/* Defines NAME_right: each answer, `found`, is what it should be at its place i. */
#define RIGHT(name, type, ...)                                                                                         \
	static bool name##_right(struct ceiling_cuda_job *job) {                                                           \
		const type *found = ceiling_cuda_answer(job);                                                                  \
		size_t i = 0, count = job->out_size / sizeof *found;                                                           \
		while (found && i < count && found[i] == (__VA_ARGS__))                                                        \
			i++;                                                                                                       \
		free((void *)found);                                                                                           \
		return i == count;                                                                                             \
	}
RIGHT(addmin, int32_t, expected(job, start(i)))
RIGHT(addmin2, uint32_t, (unsigned)expected(job, start(i) + 1) << 16 | (unsigned)expected(job, start(i)))
RIGHT(fp32, float, (float)(start(i) + steps(job)))
RIGHT(fp64, double, (double)(start(i) + steps(job)))

static void addmin2_run(struct ceiling_cuda_job *job) {
	unsigned one = 0x10001, most = (unsigned)limit(job) << 16 | (unsigned)limit(job);
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &most, &count, NULL});
}

static double addmin2_ops(const struct ceiling_cuda_job *job) {
	return 2 * chain_ops(job);
}

static void fp32_run(struct ceiling_cuda_job *job) {
	float one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

static void fp64_run(struct ceiling_cuda_job *job) {
	double one = 1;
	int count = steps(job);
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &one, &one, &count, NULL});
}

#define ARITHMETIC(word, unit, scale, most, bytes, amount)                                                             \
	{                                                                                                                  \
		.name = #word, .op = unit, .source = "ceiling/cuda/arithmetic.cu", .function = "ceiling_" #word,               \
		.rate = &scale, .n_max = most, .out_size = bytes, .ops = amount, .run = word##_run, .right = word##_right      \
	}
const struct ceiling_cuda ceiling_cuda_addmin = ARITHMETIC(addmin, "pair", ceiling_pairs, 1 << 30, words, chain_ops);
const struct ceiling_cuda ceiling_cuda_addmin2 = ARITHMETIC(addmin2, "pair", ceiling_pairs, 30000, words, addmin2_ops);
const struct ceiling_cuda ceiling_cuda_fp32 = ARITHMETIC(fp32, "flop", ceiling_flops, STEPS_EXACT, words, flops);
const struct ceiling_cuda ceiling_cuda_fp64 = ARITHMETIC(fp64, "flop", ceiling_flops, 1 << 30, reals, flops);
