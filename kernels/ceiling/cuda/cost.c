/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of cost.cu: launches, atomics, the barrier of all blocks. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

/* Between the host's memory and the GPU's, pinned or as malloc gives it. No byte's neighbour is the same, and no page
 * is like the next one. */
static unsigned char byte_at(size_t i) {
	return (unsigned char)(i * 7 + (i >> 12) * 13 + 1);
}

static void bytes_fill(unsigned char *bytes, size_t size) {
	for (size_t i = 0; i < size; i++)
		bytes[i] = byte_at(i);
}

static enum ss_status transfer_setup(struct ceiling_cuda_job *job, const struct ss_call *call, bool pinned) {
	job->pinned = pinned;
	job->host = pinned ? gpu_pinned_alloc(job->gpu, job->size) : malloc(job->size);
	if (!job->host)
		return pinned ? cuda_status(call) : SS_NOMEM;
	bytes_fill(job->host, job->size);
	gpu_upload(job->gpu, job->array[0], job->host, job->size);
	gpu_sync(job->gpu);
	return cuda_status(call);
}

static enum ss_status pinned_setup(struct ceiling_cuda_job *job, const struct ss_call *call) {
	return transfer_setup(job, call, true);
}
static enum ss_status pageable_setup(struct ceiling_cuda_job *job, const struct ss_call *call) {
	return transfer_setup(job, call, false);
}

static void upload_run(struct ceiling_cuda_job *job) {
	gpu_upload(job->gpu, job->array[0], job->host, job->size);
}
static void download_run(struct ceiling_cuda_job *job) {
	gpu_download(job->gpu, job->host, job->array[0], job->size);
}

/* Runs again after wiping the target, because the setup's copy must not pass for the result. */
static bool bytes_right(struct ceiling_cuda_job *job) {
	const unsigned char *bytes = job->host;
	size_t i = 0;
	gpu_sync(job->gpu);
	while (gpu_is_fine(job->gpu) && i < job->size && bytes[i] == byte_at(i))
		i++;
	return i == job->size;
}

static bool upload_right(struct ceiling_cuda_job *job) {
	gpu_fill8(job->gpu, job->array[0], 0, job->size);
	upload_run(job);
	gpu_sync(job->gpu);
	memset(job->host, 0, job->size);
	download_run(job);
	return bytes_right(job);
}

static bool download_right(struct ceiling_cuda_job *job) {
	gpu_sync(job->gpu);
	memset(job->host, 0, job->size);
	download_run(job);
	return bytes_right(job);
}

#define TRANSFER(word, make, go, check)                                                                                \
	{                                                                                                                  \
		.name = word, .op = "byte", .source = "ceiling/cuda/cost.cu", .rate = &ceiling_bandwidth,                      \
		.n_max = INT64_C(1) << 36, .arrays = 1, .ops = ceiling_cuda_bytes, .setup = make, .run = go, .right = check    \
	}
const struct ceiling_cuda ceiling_cuda_upload = TRANSFER("upload", pinned_setup, upload_run, upload_right);
const struct ceiling_cuda ceiling_cuda_download = TRANSFER("download", pinned_setup, download_run, download_right);
const struct ceiling_cuda ceiling_cuda_upload_pageable =
	TRANSFER("upload_pageable", pageable_setup, upload_run, upload_right);
const struct ceiling_cuda ceiling_cuda_download_pageable =
	TRANSFER("download_pageable", pageable_setup, download_run, download_right);

enum { WORDS = 1 << 20, ODD = 0x9E3779B1u & (WORDS - 1) };
#define SOURCE "ceiling/cuda/cost.cu"

static double repetitions(const struct ceiling_cuda_job *job) {
	return (double)job->n;
}
static double additions(const struct ceiling_cuda_job *job) {
	return (double)job->threads * (double)job->n;
}
static size_t one_word(const struct ceiling_cuda_job *job) {
	(void)job;
	return sizeof(uint32_t);
}
static size_t many_words(const struct ceiling_cuda_job *job) {
	(void)job;
	return WORDS * sizeof(uint32_t);
}

/* All that a run does is counted modulo 2^32, as the GPU does it. */
static bool word_is(struct ceiling_cuda_job *job, uint32_t wanted) {
	uint32_t *found = ceiling_cuda_answer(job);
	bool right = found && *found == wanted;
	free(found);
	return right;
}

static void start_run(struct ceiling_cuda_job *job) {
	for (int64_t i = 0; i < job->n; i++)
		ceiling_cuda_launch(job, 1, 32, 0, (void *[]){&job->out, NULL});
}

static void round_trip_run(struct ceiling_cuda_job *job) {
	for (int64_t i = 0; i < job->n; i++) {
		ceiling_cuda_launch(job, 1, 32, 0, (void *[]){&job->out, NULL});
		gpu_stream_sync(job->gpu);
	}
}

static bool launches_right(struct ceiling_cuda_job *job) {
	return word_is(job, job->runs * (uint32_t)job->n);
}

static void one_run(struct ceiling_cuda_job *job) {
	int steps = (int)job->n;
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &steps, NULL});
}

/* Half of the threads add 1, the others 2. */
static bool one_right(struct ceiling_cuda_job *job) {
	return word_is(job, job->runs * (uint32_t)job->n * (job->threads / 2 * 3));
}

static void many_run(struct ceiling_cuda_job *job) {
	int steps = (int)job->n;
	unsigned mask = WORDS - 1, odd = ODD;
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &mask, &odd, &steps, NULL});
}

/* Numbers 0 .. T-1 go round all words, each of which is met T / WORDS times; the first T % WORDS of the way once more.
 * T wraps at 2^32, a multiple of WORDS. */
static bool many_right(struct ceiling_cuda_job *job) {
	uint32_t *found = ceiling_cuda_answer(job);
	uint64_t all = (uint64_t)job->threads * (uint64_t)job->n;
	uint32_t each = (uint32_t)(all / WORDS), more = (uint32_t)(all % WORDS), t = 0;
	while (found && t < WORDS && found[(t * (uint32_t)ODD) & (WORDS - 1)] == job->runs * (each + (t < more)))
		t++;
	free(found);
	return t == WORDS;
}

/* The barrier's word, then a place for each block and one for what went wrong. */
static size_t barrier_words(const struct ceiling_cuda_job *job) {
	return ((size_t)job->grid + 2) * sizeof(uint32_t);
}

/* All blocks must be there at once. */
static enum ss_status barrier_fits(struct ceiling_cuda_job *job, const struct ss_call *call) {
	int sms = gpu_facts(job->gpu)->sms, most = gpu_blocks_per_sm(job->gpu, job->function, job->block, 0) * sms;
	if (job->grid <= (unsigned)most)
		return SS_OK;
	return kernel_fail(call, SS_INVALID, "%u blocks at once are more than the %d this GPU holds", job->grid, most);
}

static void barrier_go(struct ceiling_cuda_job *job, gpu_ptr check) {
	const struct gpu_shape shape = {.grid = {job->grid}, .block = {job->block}, .cooperative = true};
	int rounds = (int)job->n;
	GPU_LAUNCH(job->gpu, job->function, &shape, &job->out, &rounds, &check);
}

static void barrier_run(struct ceiling_cuda_job *job) {
	barrier_go(job, 0);
}

static bool barrier_right(struct ceiling_cuda_job *job) {
	gpu_fill8(job->gpu, job->out + sizeof(uint32_t), 0, job->out_size - sizeof(uint32_t));
	barrier_go(job, job->out + sizeof(uint32_t));
	uint32_t *found = ceiling_cuda_answer(job);
	bool right = found && found[job->grid + 1] == 0;
	for (size_t i = 1; right && i <= job->grid; i++)
		right = found[i] == (uint32_t)job->n;
	free(found);
	return right;
}

#define COST(word, unit, call, scale, most, bytes, amount, make, go, check)                                            \
	{                                                                                                                  \
		.name = word, .op = unit, .source = SOURCE, .function = call, .rate = &scale, .n_max = most,                   \
		.out_size = bytes, .ops = amount, .setup = make, .run = go, .right = check                                     \
	}
const struct ceiling_cuda ceiling_cuda_start = COST("launch", "kernel start", "ceiling_launch", ceiling_cost, 1 << 24,
                                                    one_word, repetitions, NULL, start_run, launches_right);
const struct ceiling_cuda ceiling_cuda_round_trip =
	COST("round_trip", "kernel start", "ceiling_launch", ceiling_cost, 1 << 24, one_word, repetitions, NULL,
         round_trip_run, launches_right);
const struct ceiling_cuda ceiling_cuda_atomic_one =
	COST("atomic_one", "addition", "ceiling_atomic_one", ceiling_cuda_adds, 1 << 20, one_word, additions, NULL, one_run,
         one_right);
const struct ceiling_cuda ceiling_cuda_atomic_many =
	COST("atomic_many", "addition", "ceiling_atomic_many", ceiling_cuda_adds, 1 << 20, many_words, additions, NULL,
         many_run, many_right);
const struct ceiling_cuda ceiling_cuda_barrier =
	COST("barrier", "barrier", "ceiling_barrier", ceiling_cost, 1 << 24, barrier_words, repetitions, barrier_fits,
         barrier_run, barrier_right);
