/* SPDX-License-Identifier: BSD-3-Clause */
/* A gpu within a program that has a context and streams of its own. */
#include "gpu/gpu_impl.h"
#include "base/mem.h"

/* The runtime's calls work in the primary context, so a program that has made nothing current yet gets that one. */
static bool context_take(struct gpu *gpu, struct err *err) {
	const struct driver *driver = &gpu->driver;
	gpu->adopted = true;
	if (!driver->context_get || !driver->context_device || !driver->event_query)
		return err_set(err, ERR_UNAVAILABLE, "install a newer one", "the driver is too old") == 0;
	if (GPU_CALL(gpu, context_get, &gpu->context) && !gpu->context && GPU_CALL(gpu, device_get, &gpu->device, 0) &&
	    GPU_CALL(gpu, context_retain, &gpu->context, gpu->device)) {
		gpu->adopted = false;
		GPU_CALL(gpu, context_set, gpu->context);
	}
	if (gpu_is_fine(gpu) && GPU_CALL(gpu, context_device, &gpu->device) &&
	    device_facts(&gpu->driver, gpu->device, &gpu->facts))
		return true;
	return err_set(err, ERR_UNAVAILABLE, NULL, "the program's CUDA context cannot be used: %s", gpu->message) == 0;
}

struct gpu *gpu_adopt(struct err *err) {
	struct gpu *gpu = mem_alloc(1, sizeof *gpu);
	gpu->root = gpu;
	gpu->use = &gpu->own;
	if (libraries_open(gpu, &driver_cuda, err) == 0 && context_take(gpu, err))
		return gpu;
	gpu_close(gpu);
	return NULL;
}

bool gpu_is_current(const struct gpu *gpu) {
	driver_context context = NULL;
	if (gpu->driver.context_get(&context) == DRIVER_SUCCESS && !context)
		return gpu->driver.context_set(gpu->context) == DRIVER_SUCCESS;
	return context == gpu->context;
}

bool gpu_launch_on(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape, void *stream,
                   void *const *arguments) {
	const unsigned *grid = shape->grid, *block = shape->block;
	driver_result result = gpu->driver.launch(function->handle, grid[0], grid[1], grid[2], block[0], block[1], block[2],
	                                          shape->shared, stream, (void **)(uintptr_t)arguments, NULL);
	return result == DRIVER_SUCCESS || gpu_succeeded(gpu, "launch", result);
}

bool gpu_mark_on(struct gpu *gpu, struct gpu_mark *mark, void *stream) {
	return mark && gpu->driver.event_record(mark->handle, stream) == DRIVER_SUCCESS;
}

bool gpu_mark_reached(struct gpu *gpu, struct gpu_mark *mark) {
	return gpu->driver.event_query(mark->handle) != DRIVER_NOT_READY;
}
