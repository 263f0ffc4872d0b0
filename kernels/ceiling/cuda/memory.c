/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's side of memory.cu and shared.cu. */
#include <stdlib.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

#define SOURCE "ceiling/cuda/memory.cu"
#define FACTOR 3.0

static size_t units(const struct ceiling_cuda_job *job) {
	return job->size / CEILING_CUDA_UNIT;
}

static size_t sums_size(const struct ceiling_cuda_job *job) {
	return (size_t)job->threads * sizeof(uint64_t);
}

static enum ss_status words_fill(struct ceiling_cuda_job *job, const struct ss_call *call) {
	const struct gpu_function *fill = gpu_function(job->gpu, job->module, "ceiling_fill_words");
	const struct gpu_shape shape = {.grid = {job->grid}, .block = {256}};
	size_t count = units(job);
	GPU_LAUNCH(job->gpu, fill, &shape, &job->array[0], &count);
	return cuda_status(call);
}

static enum ss_status reals_fill(struct ceiling_cuda_job *job, const struct ss_call *call) {
	const struct gpu_function *fill = gpu_function(job->gpu, job->module, "ceiling_fill_reals");
	const struct gpu_shape shape = {.grid = {job->grid}, .block = {256}};
	size_t count = units(job);
	for (int array = 1; array < 3; array++)
		GPU_LAUNCH(job->gpu, fill, &shape, &job->array[array], &count, &array);
	return cuda_status(call);
}

static void read_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	ceiling_cuda_launch(job, job->grid, job->block, 0, (void *[]){&job->out, &job->array[0], &count, &passes, NULL});
}

/* 0 + 1 + .. + last is a triangle's number, and all of it is taken modulo 2^64. */
static bool read_right(struct ceiling_cuda_job *job) {
	const uint64_t *found = ceiling_cuda_answer(job);
	uint64_t sum = 0, count = 2 * units(job), half = count / 2;
	for (size_t i = 0; found && i < job->threads; i++)
		sum += found[i];
	free((void *)found);
	return sum == job->passes * half * (count - 1);
}

static void copy_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	ceiling_cuda_launch(job, job->grid, job->block, 0,
	                    (void *[]){&job->array[1], &job->array[0], &count, &passes, NULL});
}

static void triad_run(struct ceiling_cuda_job *job) {
	size_t count = units(job);
	int passes = (int)job->passes;
	double factor = FACTOR;
	ceiling_cuda_launch(job, job->grid, job->block, 0,
	                    (void *[]){&job->array[0], &job->array[1], &job->array[2], &factor, &count, &passes, NULL});
}

/* Piece by piece: an array may be as large as all of the host's memory. */
enum { PIECE = 1 << 20 };

static bool copy_piece(const void *piece, size_t first, size_t count) {
	const uint64_t *words = piece;
	size_t i = 0;
	while (i < count && words[i] == first + i)
		i++;
	return i == count;
}

static bool triad_piece(const void *piece, size_t first, size_t count) {
	const double *reals = piece;
	size_t i = 0;
	while (i < count && reals[i] == 4.0 * (double)((first + i) % 1021) + 7.0)
		i++;
	return i == count;
}

static bool pieces_right(struct ceiling_cuda_job *job, gpu_ptr array,
                         bool (*right)(const void *piece, size_t first, size_t count)) {
	void *piece = malloc(PIECE);
	bool fine = piece;
	for (size_t at = 0; fine && at < job->size; at += PIECE) {
		size_t bytes = job->size - at < PIECE ? job->size - at : PIECE;
		gpu_download(job->gpu, piece, array + at, bytes);
		fine = gpu_is_fine(job->gpu) && right(piece, at / 8, bytes / 8);
	}
	free(piece);
	return fine;
}

static bool copy_right(struct ceiling_cuda_job *job) {
	return pieces_right(job, job->array[1], copy_piece);
}
static bool triad_right(struct ceiling_cuda_job *job) {
	return pieces_right(job, job->array[0], triad_piece);
}

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

static size_t shared_sums_size(const struct ceiling_cuda_job *job) {
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

#define MEMORY(word, count, bytes, make)                                                                               \
	{                                                                                                                  \
		.name = #word, .op = "byte", .source = SOURCE, .function = "ceiling_" #word, .rate = &ceiling_bandwidth,       \
		.n_max = INT64_C(1) << 40, .arrays = count, .out_size = bytes, .ops = ceiling_cuda_bytes, .setup = make,       \
		.run = word##_run, .right = word##_right                                                                       \
	}
const struct ceiling_cuda ceiling_cuda_read = MEMORY(read, 1, sums_size, words_fill);
const struct ceiling_cuda ceiling_cuda_copy = MEMORY(copy, 2, NULL, words_fill);
const struct ceiling_cuda ceiling_cuda_triad = MEMORY(triad, 3, NULL, reals_fill);
const struct ceiling_cuda ceiling_cuda_shared = {.name = "shared",
                                                 .op = "byte",
                                                 .source = "ceiling/cuda/shared.cu",
                                                 .function = "ceiling_shared",
                                                 .rate = &ceiling_bandwidth,
                                                 .n_max = 1 << 28,
                                                 .out_size = shared_sums_size,
                                                 .ops = shared_ops,
                                                 .setup = shared_setup,
                                                 .run = shared_run,
                                                 .right = shared_right};
