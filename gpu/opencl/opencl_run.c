/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels, their launches, and the time that these take by the device's clock. */
#include "gpu/opencl/opencl_impl.h"

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
