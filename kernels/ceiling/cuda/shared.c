/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of shared.cu. */
#include <stdlib.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

/* n, in whole rounds of all places: then each thread has read all words as often. */
static int turns(const struct ceiling_cuda_job *job) {
	return (int)((job->n + job->block - 1) / job->block * job->block);
}

static unsigned bytes_of_block(const struct ceiling_cuda_job *job) {
	return CEILING_CUDA_ROWS * job->block * CEILING_CUDA_UNIT;
}

static double shared_ops(const struct ceiling_cuda_job *job) {
	return (double)job->threads * (double)turns(job) * CEILING_CUDA_ROWS * CEILING_CUDA_UNIT;
}

static size_t sums_size(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * sizeof(uint32_t);
}

static enum ss_status shared_setup(struct ceiling_cuda_job *job, const struct ss_call *call) {
	if (job->block & (job->block - 1))
		return kernel_fail(call, SS_INVALID, "block must be a power of two for shared");
	return SS_OK;
}

static void shared_run(struct ceiling_cuda_job *job) {
	int count = turns(job);
	ceiling_cuda_launch(job, job->grid, job->block, bytes_of_block(job), (void *[]){&job->out, &count, NULL});
}

static bool shared_right(struct ceiling_cuda_job *job) {
	const uint32_t *found = ceiling_cuda_answer(job);
	uint64_t words = bytes_of_block(job) / 4, rounds = (uint64_t)turns(job) / job->block;
	uint32_t all = (uint32_t)(words / 2 * (words - 1)) * (uint32_t)rounds;
	size_t i = 0;
	while (found && i < job->threads && found[i] == all)
		i++;
	free((void *)found);
	return i == job->threads;
}

const struct ceiling_cuda ceiling_cuda_shared = {
	.name = "shared",
	.op = "byte",
	.source = "ceiling/cuda/shared.cu",
	.function = "ceiling_shared",
	.rate = &ceiling_bandwidth,
	.n_max = 1 << 28,
	.out_size = sums_size,
	.ops = shared_ops,
	.setup = shared_setup,
	.run = shared_run,
	.right = shared_right,
};
