/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

struct gpu_mark *gpu_mark_new(struct gpu *gpu) {
	driver_event handle;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, event_create, &handle, DRIVER_EVENT_DEFAULT))
		return NULL;
	struct gpu_mark *mark = mem_alloc(1, sizeof *mark);
	*mark = (struct gpu_mark){handle, gpu, gpu->marks};
	return gpu->marks = mark;
}

void gpu_mark_free(struct gpu *gpu, struct gpu_mark *mark) {
	if (!mark)
		return;
	struct gpu_mark **at = &gpu->marks;
	while (*at && *at != mark)
		at = &(*at)->next;
	if (*at)
		*at = mark->next;
	if (gpu_enter_to_free(gpu))
		GPU_CALL(gpu, event_destroy, mark->handle);
	free(mark);
}

void gpu_mark(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, event_record, mark->handle, gpu->use->handle);
}

void gpu_wait(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, stream_wait, gpu->use->handle, mark->handle, 0);
}

void gpu_mark_sync(struct gpu *gpu, struct gpu_mark *mark) {
	if (mark && gpu_enter(gpu))
		GPU_CALL(gpu, event_sync, mark->handle);
}

double gpu_elapsed(struct gpu *gpu, struct gpu_mark *from, struct gpu_mark *to) {
	float milliseconds = 0;
	gpu_mark_sync(gpu, from);
	gpu_mark_sync(gpu, to);
	if (!from || !to || !gpu_enter(gpu) || !GPU_CALL(gpu, event_elapsed, &milliseconds, from->handle, to->handle))
		return NAN;
	return 1e-3 * (double)milliseconds;
}
