/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "gpu/opencl/impl.h"

static const uint64_t GRAIN = 4096;

uint64_t opencl_alloc(struct opencl *ocl, size_t size) {
	int32_t result = OPENCL_SUCCESS;
	if (ocl->count == OPENCL_BUFFERS_MAX) {
		gpu_fail(ocl->gpu, GPU_NO_MEMORY, "more than %d OpenCL buffers", OPENCL_BUFFERS_MAX);
		return 0;
	}
	opencl_memory handle = ocl->calls->memory_create(ocl->context, OPENCL_MEMORY_READ_WRITE, size, NULL, &result);
	if (!opencl_succeeded(ocl, "clCreateBuffer", result))
		return 0;
	uint64_t at = ocl->next;
	ocl->buffers[ocl->count++] = (struct opencl_buffer){handle, at, size};
	ocl->next += (size / GRAIN + 2) * GRAIN; /* a gap, so that no address past the end is another buffer's */
	return at;
}

void opencl_free(struct opencl *ocl, uint64_t memory) {
	size_t i = 0;
	while (i < ocl->count && ocl->buffers[i].at != memory)
		i++;
	if (i == ocl->count)
		return;
	ocl->calls->memory_release(ocl->buffers[i].handle); /* commands that use it keep it */
	ocl->buffers[i] = ocl->buffers[--ocl->count];
}

const struct opencl_buffer *opencl_buffer_at(struct opencl *ocl, uint64_t memory, size_t *offset) {
	for (size_t i = 0; i < ocl->count; i++) {
		const struct opencl_buffer *buffer = &ocl->buffers[i];
		*offset = (size_t)(memory - buffer->at);
		if (memory >= buffer->at && *offset < buffer->size)
			return buffer;
	}
	gpu_fail(ocl->gpu, GPU_REFUSED, "an address belongs to no OpenCL buffer");
	return NULL;
}

void opencl_upload(struct opencl *ocl, uint64_t to, const void *from, size_t size) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, to, &offset);
	if (buffer)
		opencl_succeeded(ocl, "clEnqueueWriteBuffer",
		                 ocl->calls->write(ocl->queue, buffer->handle, true, offset, size, from, 0, NULL, NULL));
}

/* It waits for the kernels before it, so a failure may be theirs. */
void opencl_download(struct opencl *ocl, void *to, uint64_t from, size_t size) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, from, &offset);
	if (buffer)
		opencl_ended(ocl, "clEnqueueReadBuffer",
		             ocl->calls->read(ocl->queue, buffer->handle, true, offset, size, to, 0, NULL, NULL));
}

void opencl_copy(struct opencl *ocl, uint64_t to, uint64_t from, size_t size) {
	size_t to_offset, from_offset;
	const struct opencl_buffer *a = opencl_buffer_at(ocl, from, &from_offset);
	const struct opencl_buffer *b = opencl_buffer_at(ocl, to, &to_offset);
	if (a && b)
		opencl_succeeded(
			ocl, "clEnqueueCopyBuffer",
			ocl->calls->copy(ocl->queue, a->handle, b->handle, from_offset, to_offset, size, 0, NULL, NULL));
}

void opencl_fill(struct opencl *ocl, uint64_t to, uint32_t value, size_t bytes_each, size_t count) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, to, &offset);
	if (buffer)
		opencl_succeeded(ocl, "clEnqueueFillBuffer",
		                 ocl->calls->fill(ocl->queue, buffer->handle, &value, bytes_each, offset, count * bytes_each, 0,
		                                  NULL, NULL));
}
