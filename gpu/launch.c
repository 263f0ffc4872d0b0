/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches kernels. Limits of the device are reported in its own terms before the driver is asked. */
#include <config.h>

#include "gpu/impl.h"

enum {
	LAUNCH_SHARED_PLAIN = 48 << 10 /* bytes that a block may use without opting in */,
	LAUNCH_Z = 64,
	LAUNCH_GRID_YZ = 65535
};

static struct gpu_shape whole(const struct gpu_shape *shape) {
	struct gpu_shape out = *shape;
	for (int i = 0; i < 3; i++) {
		out.grid[i] += out.grid[i] == 0;
		out.block[i] += out.block[i] == 0;
	}
	return out;
}

/* Limits that all devices since 5.0 share: NVIDIA, CUDA C++ Programming Guide 13.0, "Compute Capabilities", table
 * "Technical Specifications per Compute Capability". */
static bool threads_fit(struct gpu *gpu, const struct gpu_function *f, const struct gpu_shape *shape) {
	uint64_t threads = (uint64_t)shape->block[0] * shape->block[1];
	threads = threads > UINT32_MAX ? threads : threads * shape->block[2];
	if (threads > (unsigned)gpu->facts.threads_per_block || shape->block[2] > LAUNCH_Z)
		gpu_fail(gpu, GPU_REFUSED, "%s: a block has at most %d threads, %d of them in z, not %u x %u x %u", f->name,
		         gpu->facts.threads_per_block, LAUNCH_Z, shape->block[0], shape->block[1], shape->block[2]);
	else if (threads > (unsigned)f->facts.threads_max)
		gpu_fail(gpu, GPU_REFUSED,
		         "%s: with %d registers a thread, or as it was compiled, a block has at most %d threads, "
		         "not %u",
		         f->name, f->facts.registers, f->facts.threads_max, (unsigned)threads);
	else if (shape->grid[0] > INT32_MAX || shape->grid[1] > LAUNCH_GRID_YZ || shape->grid[2] > LAUNCH_GRID_YZ)
		gpu_fail(gpu, GPU_REFUSED, "%s: a grid of %u x %u x %u blocks is too large", f->name, shape->grid[0],
		         shape->grid[1], shape->grid[2]);
	return gpu_is_fine(gpu);
}

static bool shared_fits(struct gpu *gpu, struct gpu_function *f, unsigned dynamic) {
	uint64_t sum = (uint64_t)f->facts.shared_bytes + dynamic;
	if (sum > (uint64_t)gpu->facts.shared_per_block) {
		gpu_fail(gpu, GPU_REFUSED, "%s: a block has at most %d bytes of shared memory, not %llu", f->name,
		         gpu->facts.shared_per_block, (unsigned long long)sum);
		return false;
	}
	if (sum <= LAUNCH_SHARED_PLAIN || (int)dynamic <= f->dynamic_allowed)
		return true;
	if (!GPU_CALL(gpu, function_set, f->handle, DRIVER_FUNCTION_DYNAMIC, (int)dynamic))
		return false;
	f->dynamic_allowed = (int)dynamic;
	return true;
}

/* The function is const for callers, but we record the opted-in size in it. */
static struct gpu_function *own(const struct gpu_function *function) {
	return (struct gpu_function *)(uintptr_t)function;
}

int gpu_blocks_per_sm(struct gpu *gpu, const struct gpu_function *function, unsigned block, size_t dynamic_shared) {
	int blocks = 0;
	if (!function || !gpu_enter(gpu))
		return 0;
	if (dynamic_shared > UINT32_MAX || block > (unsigned)function->facts.threads_max ||
	    dynamic_shared + (size_t)function->facts.shared_bytes > (size_t)gpu->facts.shared_per_block)
		return 0;
	if (!shared_fits(gpu, own(function), (unsigned)dynamic_shared) ||
	    !GPU_CALL(gpu, blocks_per_sm, &blocks, function->handle, (int)block, dynamic_shared))
		return 0;
	return blocks;
}

static bool blocks_fit(struct gpu *gpu, const struct gpu_function *f, const struct gpu_shape *shape) {
	uint64_t blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];
	unsigned threads = shape->block[0] * shape->block[1] * shape->block[2];
	uint64_t most = (uint64_t)gpu_blocks_per_sm(gpu, f, threads, shape->shared) * (unsigned)gpu->facts.sms;
	if (!gpu_is_fine(gpu))
		return false;
	if (!gpu->facts.cooperative)
		gpu_fail(gpu, GPU_REFUSED, "%s: this GPU does not support cooperative launches", f->name);
	else if (blocks > most)
		gpu_fail(gpu, GPU_REFUSED, "%s: %llu blocks at once are more than the %llu this GPU holds", f->name,
		         (unsigned long long)blocks, (unsigned long long)most);
	return gpu_is_fine(gpu);
}

static bool start(struct gpu *gpu, const struct gpu_function *f, const struct gpu_shape *s, void **arguments) {
	driver_stream stream = gpu->use->handle;
	if (s->cooperative)
		return GPU_CALL(gpu, launch_cooperative, f->handle, s->grid[0], s->grid[1], s->grid[2], s->block[0],
		                s->block[1], s->block[2], s->shared, stream, arguments);
	return GPU_CALL(gpu, launch, f->handle, s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
	                s->shared, stream, arguments, NULL);
}

static bool fits(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *full) {
	return threads_fit(gpu, function, full) && shared_fits(gpu, own(function), full->shared) &&
	       (!full->cooperative || blocks_fit(gpu, function, full));
}

void gpu_fit(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape) {
	struct gpu_shape full = whole(shape);
	if (function && gpu_enter(gpu))
		fits(gpu, function, &full);
}

void gpu_launch(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape,
                void *const *arguments) {
	if (!function || !gpu_enter(gpu))
		return;
	struct gpu_shape full = whole(shape);
	if (gpu->backend) {
		gpu->backend->launch(gpu, function, &full, arguments);
		if (gpu_is_fine(gpu))
			launch_log_add(&gpu->log, function, &full, 1);
		return;
	}
	if (!fits(gpu, function, &full))
		return;
	const struct gpu_watcher *watcher = gpu->recording ? NULL : gpu->watcher;
	if (watcher)
		watcher->before(watcher->ctx, function->name, &full);
	bool started = start(gpu, function, &full, (void **)(uintptr_t)arguments);
	if (watcher)
		watcher->after(watcher->ctx);
	if (started)
		launch_log_add(&gpu->log, function, &full, 1);
}

void gpu_watch(struct gpu *gpu, const struct gpu_watcher *watcher) {
	gpu->watcher = watcher;
}

void gpu_sync(struct gpu *gpu) {
	if (!gpu_enter(gpu))
		return;
	if (gpu->backend)
		gpu->backend->sync(gpu->opencl);
	else
		GPU_CALL(gpu, context_sync);
}
