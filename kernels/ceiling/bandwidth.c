/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidths of memory. What is counted is what STREAM counts (McCalpin, "Memory Bandwidth and Machine Balance in
 * Current High Performance Computers", 1995): a byte read and a byte written, not the line that a plain store reads
 * first. */
#include "kernels/ceiling/ceiling.h"

static double bytes(const struct ceiling_job *job) {
	return (double)job->threads * (double)job->passes * (double)job->ceiling->arrays * (double)job->size;
}

/* A sum over an array of words. */
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

/* STREAM's triad, a = b + s c over doubles. */
static void triad_fill(const struct ceiling_job *job, int thread) {
	double *a = ceiling_array(job, thread, 0), *b = ceiling_array(job, thread, 1), *c = ceiling_array(job, thread, 2);
	for (size_t i = 0; i < job->size / sizeof *a; i++) {
		a[i] = 0;
		b[i] = ceiling_real(thread, 1, i);
		c[i] = ceiling_real(thread, 2, i);
	}
}

static void triad_part(const struct ceiling_job *job, int thread) {
	double *a = ceiling_array(job, thread, 0), *b = ceiling_array(job, thread, 1), *c = ceiling_array(job, thread, 2);
	for (size_t pass = 0; pass < job->passes; pass++)
		job->isa->triad[job->stream](a, b, c, CEILING_FACTOR, job->size);
}

static bool triad_right(const struct ceiling_job *job, int thread) {
	const double *a = ceiling_array(job, thread, 0);
	size_t i = 0, count = job->size / sizeof *a;
	while (i < count && a[i] == ceiling_oracle_triad(thread, i))
		i++;
	return i == count;
}

#define BANDWIDTH(word, count)                                                                                         \
	const struct ceiling ceiling_##word = {.name = #word,                                                              \
	                                       .op = "byte",                                                               \
	                                       .rate = &ceiling_bandwidth,                                                 \
	                                       .n_max = INT64_C(1) << 36,                                                  \
	                                       .arrays = count,                                                            \
	                                       .ops = bytes,                                                               \
	                                       .fill = word##_fill,                                                        \
	                                       .part = word##_part,                                                        \
	                                       .right = word##_right}
BANDWIDTH(read, 1);
BANDWIDTH(copy, 2);
BANDWIDTH(triad, 3);
