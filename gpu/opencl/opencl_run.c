/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels, their launches, and the time that these take by the device's clock. */
#include <limits.h>
#include <math.h>

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

/* The buffer at an address, and the offset in it; NULL with a failure if there is none. */
static const struct opencl_buffer *opencl_buffer_at(struct opencl *ocl, uint64_t memory, size_t *offset) {
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

static int clamp(uint64_t value) {
	return value > INT_MAX ? INT_MAX : (int)value;
}

static void facts_read(struct opencl *ocl, opencl_kernel kernel, struct gpu_function_facts *facts) {
	uint64_t local = 0, private = 0;
	size_t most = 0;
	const struct opencl_calls *calls = ocl->calls;
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_LOCAL, sizeof local, &local, NULL);
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_PRIVATE, sizeof private, &private, NULL);
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_GROUP_SIZE, sizeof most, &most, NULL);
	*facts = (struct gpu_function_facts){.shared_bytes = clamp(local),
	                                     .local_bytes = clamp(private),
	                                     .threads_max = most ? clamp(most) : clamp(ocl->group_size)};
}

opencl_kernel opencl_function(struct opencl *ocl, opencl_program program, const char *name, int *parameters,
                              struct gpu_function_facts *facts) {
	int32_t result = OPENCL_SUCCESS;
	uint32_t count = 0;
	opencl_kernel kernel = ocl->calls->kernel_create(program, name, &result);
	if (result == OPENCL_INVALID_KERNEL_NAME)
		gpu_fail(ocl->gpu, GPU_COMPILE, "the source does not define a __kernel %s", name);
	else
		opencl_succeeded(ocl, "clCreateKernel", result);
	if (result != OPENCL_SUCCESS)
		return NULL;
	bool counted = ocl->calls->kernel_info(kernel, OPENCL_KERNEL_ARGS, sizeof count, &count, NULL) == OPENCL_SUCCESS;
	*parameters = counted ? clamp(count) : -1;
	facts_read(ocl, kernel, facts);
	return kernel;
}

void opencl_function_free(struct opencl *ocl, opencl_kernel kernel) {
	if (kernel)
		ocl->calls->kernel_release(kernel);
}

/* The limits in our own words; drivers only say CL_INVALID_WORK_GROUP_SIZE. */
static bool fits(struct opencl *ocl, opencl_kernel kernel, const char *name, const struct gpu_shape *shape) {
	struct gpu_function_facts facts;
	uint64_t items = (uint64_t)shape->block[0] * shape->block[1];
	items = items > UINT32_MAX ? items : items * shape->block[2];
	facts_read(ocl, kernel, &facts);
	for (int i = 0; i < 3; i++)
		if (shape->block[i] > ocl->item_sizes[i]) {
			gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %zu work items in dimension %d, not %u", name,
			         ocl->item_sizes[i], i, shape->block[i]);
			return false;
		}
	if (items > (uint64_t)facts.threads_max)
		gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %d work items, not %ju", name, facts.threads_max,
		         (uintmax_t)items);
	else if ((uint64_t)facts.shared_bytes + shape->shared > ocl->local_bytes)
		gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %zu bytes of local memory, not %ju", name,
		         ocl->local_bytes, (uintmax_t)facts.shared_bytes + shape->shared);
	else
		return true;
	return false;
}

static bool argument_set(struct opencl *ocl, opencl_kernel kernel, size_t i, const struct gpu_passed *kind,
                         const void *value) {
	size_t offset = 0;
	const struct opencl_buffer *buffer =
		kind->what == GPU_PASSED_MEMORY ? opencl_buffer_at(ocl, *(const gpu_ptr *)value, &offset) : NULL;
	if (kind->what == GPU_PASSED_MEMORY && !buffer)
		return false;
	const void *from = buffer ? (const void *)&buffer->handle : kind->what == GPU_PASSED_LOCAL ? NULL : value;
	int32_t result =
		ocl->calls->kernel_argument(kernel, (uint32_t)i, buffer ? sizeof buffer->handle : kind->bytes, from);
	if (result == OPENCL_INVALID_ARG_SIZE && kind->what == GPU_PASSED_VALUE)
		gpu_fail(ocl->gpu, GPU_COMPILE, "parameter %zu does not have %zu bytes like its argument", i + 1, kind->bytes);
	else if (result != OPENCL_SUCCESS && kind->what == GPU_PASSED_MEMORY)
		gpu_fail(ocl->gpu, GPU_COMPILE, "parameter %zu is not a __global or __constant pointer like its argument",
		         i + 1);
	return opencl_succeeded(ocl, "clSetKernelArg", result);
}

static void event_keep(struct opencl *ocl, opencl_event event) {
	if (!ocl->first) {
		ocl->first = event;
		return;
	}
	if (ocl->last)
		ocl->calls->event_release(ocl->last);
	ocl->last = event;
}

void opencl_launch(struct opencl *ocl, opencl_kernel kernel, const char *name, const struct gpu_shape *shape,
                   const struct gpu_passed *kinds, size_t count, void *const *arguments) {
	size_t global[3], local[3];
	opencl_event event = NULL;
	for (int i = 0; i < 3; i++) {
		local[i] = shape->block[i];
		global[i] = (size_t)shape->grid[i] * shape->block[i];
	}
	if (!fits(ocl, kernel, name, shape))
		return;
	for (size_t i = 0; i < count; i++)
		if (!argument_set(ocl, kernel, i, &kinds[i], arguments[i]))
			return;
	int32_t result =
		ocl->calls->launch(ocl->queue, kernel, 3, NULL, global, local, 0, NULL, ocl->timing ? &event : NULL);
	if (opencl_succeeded(ocl, "clEnqueueNDRangeKernel", result) && event)
		event_keep(ocl, event);
}

bool opencl_sync(struct opencl *ocl) {
	return opencl_ended(ocl, "clFinish", ocl->calls->finish(ocl->queue));
}

void opencl_events_drop(struct opencl *ocl) {
	if (ocl->first)
		ocl->calls->event_release(ocl->first);
	if (ocl->last)
		ocl->calls->event_release(ocl->last);
	ocl->first = ocl->last = NULL;
}

void opencl_clock_start(struct opencl *ocl) {
	opencl_events_drop(ocl);
	ocl->timing = opencl_sync(ocl);
}

double opencl_clock_stop(struct opencl *ocl) {
	uint64_t from = 0, to = 0;
	bool started = ocl->timing;
	ocl->timing = false;
	if (!started || !opencl_sync(ocl))
		return NAN;
	if (!ocl->first)
		return 0;
	opencl_event last = ocl->last ? ocl->last : ocl->first;
	bool fine = opencl_succeeded(ocl, "clGetEventProfilingInfo",
	                             ocl->calls->event_time(ocl->first, OPENCL_EVENT_START, sizeof from, &from, NULL)) &&
	            opencl_succeeded(ocl, "clGetEventProfilingInfo",
	                             ocl->calls->event_time(last, OPENCL_EVENT_END, sizeof to, &to, NULL));
	opencl_events_drop(ocl);
	return fine && to >= from ? 1e-9 * (double)(to - from) : NAN;
}
