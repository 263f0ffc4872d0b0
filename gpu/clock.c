/* SPDX-License-Identifier: BSD-3-Clause */
/* Timing by events on an idle device. */
#include <config.h>

#include <math.h>

#include "gpu/impl.h"

static bool clock_ready(struct gpu *gpu) {
	if (!gpu->clock_from)
		gpu->clock_from = gpu_mark_new(gpu);
	if (!gpu->clock_to)
		gpu->clock_to = gpu_mark_new(gpu);
	return gpu->clock_from && gpu->clock_to;
}

void gpu_clock_start(struct gpu *gpu) {
	if (gpu->backend) {
		if (gpu_enter(gpu))
			gpu->backend->clock_start(gpu->opencl);
		return;
	}
	if (!clock_ready(gpu))
		return;
	gpu_sync(gpu);
	if (gpu_enter(gpu))
		GPU_CALL(gpu, event_record, gpu->clock_from->handle, gpu->own.handle);
}

double gpu_clock_stop(struct gpu *gpu) {
	if (gpu->backend)
		return gpu_enter(gpu) ? gpu->backend->clock_stop(gpu->opencl) : NAN;
	if (!gpu->clock_to || !gpu_enter(gpu) || !GPU_CALL(gpu, event_record, gpu->clock_to->handle, gpu->own.handle))
		return NAN;
	return gpu_elapsed(gpu, gpu->clock_from, gpu->clock_to);
}

/* The buffer is twice the size of the cache, because caches do not always replace the least recently used line. */
void gpu_flush_l2(struct gpu *gpu) {
	size_t size = 2 * (size_t)(gpu->facts.l2_bytes > 0 ? gpu->facts.l2_bytes : 64 << 20);
	if (!gpu->flush)
		gpu->flush = gpu_alloc(gpu, size);
	if (gpu->flush && gpu->backend)
		gpu_fill8(gpu, gpu->flush, (uint8_t)gpu->flushes++, size);
	else if (gpu->flush && gpu_enter(gpu))
		GPU_CALL(gpu, fill8, gpu->flush, (unsigned char)gpu->flushes++, size, gpu->own.handle);
}
