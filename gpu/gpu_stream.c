/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "gpu/gpu_impl.h"
#include "base/mem.h"

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

/* Timing by events on an idle device. */

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

static void counts_read(const struct launch_log *log, int64_t counts[LAUNCHES_MAX]) {
	for (size_t i = 0; i < LAUNCHES_MAX; i++)
		counts[i] = i < log->count ? log->entries[i].launches : 0;
}

void gpu_record(struct gpu *gpu) {
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, capture_begin, gpu->use->handle, DRIVER_CAPTURE_RELAXED))
		return;
	free(gpu->recording);
	gpu->recording = mem_alloc(LAUNCHES_MAX, sizeof *gpu->recording);
	counts_read(&gpu->log, gpu->recording);
}

/* Recorded launches did not run, so they count for the graph. */
static void counts_move(struct gpu *gpu, struct gpu_graph *graph) {
	for (size_t i = 0; i < gpu->log.count; i++) {
		graph->launches[i] = gpu->log.entries[i].launches - gpu->recording[i];
		gpu->log.entries[i].launches = gpu->recording[i];
	}
}

struct gpu_graph *gpu_recorded(struct gpu *gpu) {
	driver_graph handle = NULL;
	driver_graph_exec exec;
	if (!gpu->recording)
		return NULL;
	/* This happens after a failure, too, because the stream must not keep recording. */
	bool fine = gpu_enter_to_free(gpu) && GPU_CALL(gpu, capture_end, gpu->use->handle, &handle) && gpu_is_fine(gpu) &&
	            GPU_CALL(gpu, graph_instantiate, &exec, handle, 0);
	struct gpu_graph *graph = NULL;
	if (fine) {
		graph = mem_alloc(1, sizeof *graph);
		graph->handle = handle;
		graph->exec = exec;
		counts_move(gpu, graph);
	} else if (handle && gpu_enter_to_free(gpu)) {
		GPU_CALL(gpu, graph_destroy, handle);
	}
	free(gpu->recording);
	gpu->recording = NULL;
	return graph;
}

void gpu_graph_launch(struct gpu *gpu, struct gpu_graph *graph) {
	if (!graph || !gpu_enter(gpu) || !GPU_CALL(gpu, graph_launch, graph->exec, gpu->use->handle))
		return;
	for (size_t i = 0; i < gpu->log.count; i++)
		gpu->log.entries[i].launches += graph->launches[i];
}

void gpu_graph_free(struct gpu *gpu, struct gpu_graph *graph) {
	if (!graph)
		return;
	if (gpu_enter_to_free(gpu)) {
		GPU_CALL(gpu, graph_exec_destroy, graph->exec);
		GPU_CALL(gpu, graph_destroy, graph->handle);
	}
	free(graph);
}
