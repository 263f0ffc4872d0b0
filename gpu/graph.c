/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdlib.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

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
