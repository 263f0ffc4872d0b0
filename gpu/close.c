/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes a gpu. A broken one makes no further driver calls, because they might not return and the process ends anyway.
 */
#include <config.h>

#include <stdlib.h>

#include "gpu/impl.h"

static void modules_close(struct gpu *gpu, bool works) {
	for (struct gpu_module *module = gpu->modules, *next; module; module = next) {
		next = module->next;
		for (struct gpu_function *function = module->functions, *after; function; function = after) {
			after = function->next;
			free(function->passed);
			free(function);
		}
		if (works)
			GPU_CALL(gpu, module_unload, module->handle);
		free(module->compiled);
		free(module->id);
		free(module);
	}
}

static void streams_close(struct gpu *gpu, bool works) {
	while (gpu->marks)
		gpu_mark_free(gpu, gpu->marks);
	while (gpu->streams)
		gpu_stream_free(gpu, gpu->streams);
	if (works && gpu->own.handle)
		GPU_CALL(gpu, stream_destroy, gpu->own.handle);
}

void gpu_close(struct gpu *gpu) {
	if (!gpu)
		return;
	for (int i = 0; i < GPU_PEERS_MAX; i++)
		if (gpu->peers[i])
			gpu_close(gpu->peers[i]);
	if (gpu->backend) {
		gpu->backend->close(gpu);
		return;
	}
	bool works = gpu->context && gpu_enter_to_free(gpu) && GPU_CALL(gpu, context_sync);
	works = works && gpu->failure != GPU_BROKEN;
	streams_close(gpu, works);
	modules_close(gpu, works);
	pool_free(gpu);
	if (works)
		GPU_CALL(gpu, context_release, gpu->device);
	nvml_close(&gpu->nvml);
	nvrtc_close(&gpu->compiler.nvrtc);
	driver_close(&gpu->driver);
	free(gpu->compiler.folder);
	free(gpu->recording);
	free(gpu);
}
