/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdlib.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

struct gpu_stream *gpu_stream_new(struct gpu *gpu, bool urgent) {
	int least = 0, greatest = 0;
	driver_stream handle;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, priorities, &least, &greatest) ||
	    !GPU_CALL(gpu, stream_create, &handle, DRIVER_STREAM_NON_BLOCKING, urgent ? greatest : least))
		return NULL;
	struct gpu_stream *stream = mem_alloc(1, sizeof *stream);
	*stream = (struct gpu_stream){handle, gpu->streams};
	return gpu->streams = stream;
}

void gpu_stream_free(struct gpu *gpu, struct gpu_stream *stream) {
	if (!stream)
		return;
	struct gpu_stream **at = &gpu->streams;
	while (*at && *at != stream)
		at = &(*at)->next;
	if (*at)
		*at = stream->next;
	if (gpu->use == stream)
		gpu->use = &gpu->own;
	if (gpu_enter_to_free(gpu))
		GPU_CALL(gpu, stream_destroy, stream->handle);
	free(stream);
}

void gpu_use(struct gpu *gpu, struct gpu_stream *stream) {
	gpu->use = stream ? stream : &gpu->own;
}

void gpu_stream_sync(struct gpu *gpu) {
	if (gpu_enter(gpu))
		GPU_CALL(gpu, stream_sync, gpu->use->handle);
}
