/* SPDX-License-Identifier: BSD-3-Clause */
/* Copying an array. What is counted is what STREAM counts (McCalpin, "Memory Bandwidth and Machine Balance in Current
 * High Performance Computers", 1995): a byte read and a byte written, not the line that a plain store reads first. */
#include "kernels/ceiling/ceiling.h"

static void copy_fill(const struct ceiling_job *job, int thread) {
	uint64_t *to = ceiling_array(job, thread, 0), *from = ceiling_array(job, thread, 1);
	for (size_t i = 0; i < job->size / sizeof *to; i++) {
		to[i] = 0;
		from[i] = ceiling_word(thread, i) + 1;
	}
}

static void copy_part(const struct ceiling_job *job, int thread) {
	for (size_t pass = 0; pass < job->passes; pass++)
		job->isa->copy[job->stream](ceiling_array(job, thread, 0), ceiling_array(job, thread, 1), job->size);
}

static bool copy_right(const struct ceiling_job *job, int thread) {
	const uint64_t *to = ceiling_array(job, thread, 0);
	size_t i = 0, words = job->size / sizeof *to;
	while (i < words && to[i] == ceiling_word(thread, i) + 1)
		i++;
	return i == words;
}

const struct ceiling ceiling_copy = {
	.name = "copy",
	.op = "byte",
	.rate = &ceiling_bandwidth,
	.n_max = INT64_C(1) << 36,
	.arrays = 2,
	.ops = ceiling_bytes,
	.fill = copy_fill,
	.part = copy_part,
	.right = copy_right,
};
