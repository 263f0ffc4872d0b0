/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the host's memory and the GPU's, pinned or as malloc gives it. */
#include <stdlib.h>
#include <string.h>

#include "kernels/ceiling/cuda/ceiling_cuda_impl.h"

/* No byte's neighbour is the same, and no page is like the next one. */
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
