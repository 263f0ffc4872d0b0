/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading: a sum over an array of words. */
#include "kernels/ceiling/ceiling.h"

static void read_fill(const struct ceiling_job *job, int thread) {
	uint64_t *words = ceiling_array(job, thread, 0);
	for (size_t i = 0; i < job->size / sizeof *words; i++)
		words[i] = ceiling_word(thread, i);
}

static void read_part(const struct ceiling_job *job, int thread) {
	const uint64_t *words = ceiling_array(job, thread, 0);
	uint64_t sum = 0;
	for (size_t pass = 0; pass < job->passes; pass++)
		sum += job->isa->read(words, job->size);
	job->slots[thread].sum = sum;
}

static bool read_right(const struct ceiling_job *job, int thread) {
	return job->slots[thread].sum == ceiling_oracle_sum(thread, job->size / sizeof(uint64_t), job->passes);
}

const struct ceiling ceiling_read = {
	.name = "read",
	.op = "byte",
	.rate = &ceiling_bandwidth,
	.n_max = INT64_C(1) << 36,
	.arrays = 1,
	.ops = ceiling_bytes,
	.fill = read_fill,
	.part = read_part,
	.right = read_right,
};
