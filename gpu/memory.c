/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "gpu/impl.h"

gpu_ptr gpu_alloc(struct gpu *gpu, size_t size) {
	if (!size || !gpu_enter(gpu))
		return 0;
	return gpu->backend ? gpu->backend->alloc(gpu->opencl, size) : pool_take(gpu, size, false);
}

void gpu_free(struct gpu *gpu, gpu_ptr memory) {
	if (memory && gpu->backend)
		gpu->backend->free(gpu->opencl, memory);
	else if (memory)
		pool_give(gpu, memory);
}

void *gpu_pinned_alloc(struct gpu *gpu, size_t size) {
	return size && gpu_enter(gpu) ? (void *)(uintptr_t)pool_take(gpu, size, true) : NULL;
}

void gpu_pinned_free(struct gpu *gpu, void *memory) {
	if (memory)
		pool_give(gpu, (uintptr_t)memory);
}

size_t gpu_memory_free(struct gpu *gpu) {
	size_t unused = 0, total = 0;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, memory_info, &unused, &total))
		return 0;
	return unused + pool_idle(gpu);
}

/* The driver may return before it is done with memory that is not pinned. */
static void host_wait(struct gpu *gpu, const void *memory, size_t size) {
	if (!gpu->recording && !pool_is_pinned(gpu->root, memory, size) && !pool_is_pinned(gpu, memory, size))
		GPU_CALL(gpu, stream_sync, gpu->use->handle);
}

void gpu_upload(struct gpu *gpu, gpu_ptr to, const void *from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->upload(gpu->opencl, to, from, size);
	else if (GPU_CALL(gpu, copy_up, to, from, size, gpu->use->handle))
		host_wait(gpu, from, size);
}

void gpu_download(struct gpu *gpu, void *to, gpu_ptr from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->download(gpu->opencl, to, from, size);
	else if (GPU_CALL(gpu, copy_down, to, from, size, gpu->use->handle))
		host_wait(gpu, to, size);
}

void gpu_copy(struct gpu *gpu, gpu_ptr to, gpu_ptr from, size_t size) {
	if (!size || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->copy(gpu->opencl, to, from, size);
	else
		GPU_CALL(gpu, copy_across, to, from, size, gpu->use->handle);
}

void gpu_fill8(struct gpu *gpu, gpu_ptr to, uint8_t value, size_t count) {
	if (!count || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->fill(gpu->opencl, to, value, 1, count);
	else
		GPU_CALL(gpu, fill8, to, value, count, gpu->use->handle);
}

void gpu_fill32(struct gpu *gpu, gpu_ptr to, uint32_t value, size_t count) {
	if (!count || !gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->fill(gpu->opencl, to, value, 4, count);
	else
		GPU_CALL(gpu, fill32, to, value, count, gpu->use->handle);
}

static driver_copy_2d described(enum gpu_way way, const struct gpu_rectangle *r) {
	driver_copy_2d copy = {.from_type = way == GPU_UP ? DRIVER_MEMORY_HOST : DRIVER_MEMORY_DEVICE,
	                       .to_type = way == GPU_DOWN ? DRIVER_MEMORY_HOST : DRIVER_MEMORY_DEVICE,
	                       .from_pitch = r->from_pitch,
	                       .to_pitch = r->to_pitch,
	                       .width = r->width,
	                       .height = r->rows};
	if (way == GPU_UP)
		copy.from_host = (const void *)(uintptr_t)r->from;
	else
		copy.from = r->from;
	if (way == GPU_DOWN)
		copy.to_host = (void *)(uintptr_t)r->to;
	else
		copy.to = r->to;
	return copy;
}

void gpu_copy_rectangle(struct gpu *gpu, enum gpu_way way, const struct gpu_rectangle *rectangle) {
	if (!rectangle->width || !rectangle->rows || !gpu_enter(gpu))
		return;
	driver_copy_2d copy = described(way, rectangle);
	if (!GPU_CALL(gpu, copy_rectangle, &copy, gpu->use->handle) || way == GPU_ACROSS)
		return;
	size_t pitch = way == GPU_UP ? rectangle->from_pitch : rectangle->to_pitch;
	host_wait(gpu, way == GPU_UP ? copy.from_host : copy.to_host, (rectangle->rows - 1) * pitch + rectangle->width);
}
