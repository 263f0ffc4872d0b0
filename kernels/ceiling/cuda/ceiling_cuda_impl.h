/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a GPU. As on the CPU, a ceiling is a table of verbs in a file of its own; nothing else includes this
 * header. */
#ifndef KERNELS_CEILING_CUDA_CEILING_CUDA_IMPL_H
#define KERNELS_CEILING_CUDA_CEILING_CUDA_IMPL_H
#include "kernels/ceiling/ceiling.h"
#include "kernels/cuda.h"

enum { CEILING_CUDA_CHAINS = 8, CEILING_CUDA_UNROLL = 16, CEILING_CUDA_ROWS = 8, CEILING_CUDA_ARRAYS = 3 };
enum { CEILING_CUDA_UNIT = 16 }; /* bytes: sizes are multiples */

struct ceiling_cuda_job;

struct ceiling_cuda {
	const char *name, *op;
	const char *source, *function; /* function may be NULL: nothing is launched */
	const struct ceiling_rate *rate;
	int64_t n_max;
	int arrays; /* of `size` bytes that n is shared out to; 0: n are repetitions */
	size_t (*out_size)(const struct ceiling_cuda_job *job);                            /* of job->out; NULL: none */
	double (*ops)(const struct ceiling_cuda_job *job);                                 /* of a run */
	enum ss_status (*setup)(struct ceiling_cuda_job *job, const struct ss_call *call); /* may be NULL */
	void (*run)(struct ceiling_cuda_job *job);
	bool (*right)(struct ceiling_cuda_job *job);
};

struct ceiling_cuda_job {
	const struct ceiling_cuda *ceiling;
	struct gpu *gpu;
	const struct gpu_module *module;
	const struct gpu_function *function;
	int64_t n;
	unsigned block, grid, threads; /* threads: of all blocks */
	size_t size, passes;           /* bytes of an array; how often a run goes through them */
	uint32_t runs;                 /* runs since the sums were cleared */
	gpu_ptr array[CEILING_CUDA_ARRAYS], out;
	size_t out_size;
	void *host; /* of transfers */
	bool pinned;
};

extern const struct ceiling_rate ceiling_cuda_adds;

static inline double ceiling_cuda_bytes(const struct ceiling_cuda_job *job) {
	return (double)job->passes * (double)job->ceiling->arrays * (double)job->size;
}
/* job->out, in the host's memory, to free(3); NULL without memory or after a failure. */
void *ceiling_cuda_answer(struct ceiling_cuda_job *job);
static inline void ceiling_cuda_launch(struct ceiling_cuda_job *job, unsigned grid, unsigned block, unsigned shared,
                                       void *const *arguments) {
	const struct gpu_shape shape = {.grid = {grid}, .block = {block}, .shared = shared};
	gpu_launch(job->gpu, job->function, &shape, arguments);
}

extern const struct ceiling_cuda ceiling_cuda_upload, ceiling_cuda_download, ceiling_cuda_upload_pageable,
	ceiling_cuda_download_pageable, ceiling_cuda_start, ceiling_cuda_round_trip, ceiling_cuda_atomic_one,
	ceiling_cuda_atomic_many, ceiling_cuda_barrier;
#endif
