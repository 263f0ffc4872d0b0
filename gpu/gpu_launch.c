/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches kernels. Limits of the device are reported in its own terms before the driver is asked. */
#include <math.h>

#include "gpu/backend.h"
#include "base/mem.h"

static int number(struct gpu *gpu, driver_function function, int which) {
	int value = 0;
	return GPU_CALL(gpu, function_attribute, &value, which, function) ? value : 0;
}

static void facts_read(struct gpu *gpu, const struct gpu_module *module, struct gpu_function *function) {
	struct gpu_function_facts *facts = &function->facts;
	facts->registers = number(gpu, function->handle, DRIVER_FUNCTION_REGISTERS);
	facts->shared_bytes = number(gpu, function->handle, DRIVER_FUNCTION_SHARED);
	facts->local_bytes = number(gpu, function->handle, DRIVER_FUNCTION_LOCAL);
	facts->threads_max = number(gpu, function->handle, DRIVER_FUNCTION_THREADS);
	for (size_t i = 0; i < module->compiled_count; i++)
		if (strcmp(module->compiled[i].name, function->name) == 0)
			facts->spill_bytes = module->compiled[i].facts.spill_bytes;
}

static struct gpu_function *function_make(struct gpu *gpu, struct gpu_module *module, const char *name) {
	struct gpu_function *function = mem_alloc(1, sizeof *function);
	driver_result result = gpu->driver.module_function(&function->handle, module->handle, name);
	if (result == DRIVER_NOT_FOUND)
		gpu_fail(gpu, GPU_COMPILE, "%.*s does not define an extern \"C\" __global__ %s", (int)strcspn(module->id, "\n"),
		         module->id, name);
	else
		gpu_succeeded(gpu, "module_function", result);
	if (result != DRIVER_SUCCESS) {
		free(function);
		return NULL;
	}
	snprintf(function->name, sizeof function->name, "%s", name);
	facts_read(gpu, module, function);
	function->next = module->functions;
	return module->functions = function;
}

const struct gpu_function *gpu_function(struct gpu *gpu, const struct gpu_module *module, const char *name) {
	if (!module || !gpu_enter(gpu))
		return NULL;
	for (const struct gpu_function *function = module->functions; function; function = function->next)
		if (strcmp(function->name, name) == 0)
			return function;
	if (strlen(name) >= COMPILED_NAME) {
		gpu_fail(gpu, GPU_COMPILE, "a kernel's name is too long: %s", name);
		return NULL;
	}
	for (struct gpu_module *own = gpu->modules; own; own = own->next)
		if (own == module)
			return (gpu->backend ? gpu->backend->function : function_make)(gpu, own, name);
	gpu_fail(gpu, GPU_REFUSED, "%s: the module is of another GPU", name);
	return NULL;
}

const struct gpu_function_facts *gpu_function_facts(const struct gpu_function *function) {
	return &function->facts;
}

void gpu_function_pass(struct gpu *gpu, const struct gpu_function *function, const struct gpu_passed *passed,
                       size_t count) {
	struct gpu_function *own = (struct gpu_function *)(uintptr_t)function; /* const for callers */
	if (!gpu->backend || !function)
		return;
	free(own->passed);
	own->passed = mem_alloc(count + 1, sizeof *passed);
	memcpy(own->passed, passed, count * sizeof *passed);
	own->passed_count = count;
}

/* Computes how many blocks an SM holds, and which resource limits them. Registers are allocated to warps in units of
 * 256, separately in each of the four parts of an SM; shared memory in units of 128 bytes (256 before 8.0), including
 * the driver's reservation for each block. Source: NVIDIA, CUDA C++ Programming Guide 13.0, "Compute Capabilities"; the
 * units and the rule for a block's registers follow the toolkit's cuda_occupancy.h. */

enum { WARP = 32, REGISTER_UNIT = 256, PARTS = 4 };

static int64_t round_up(int64_t value, int64_t unit) {
	return (value + unit - 1) / unit * unit;
}

static int64_t by_registers(const struct gpu_facts *device, int registers, int64_t warps) {
	int64_t each = round_up((int64_t)registers * WARP, REGISTER_UNIT);
	if (each == 0)
		return INT32_MAX;
	if (each * round_up(warps, PARTS) > device->registers_per_block)
		return 0;
	return device->registers_per_sm / PARTS / each * PARTS / warps;
}

static int64_t by_shared(const struct gpu_facts *device, int64_t bytes) {
	if (bytes > device->shared_per_block)
		return 0;
	int64_t each = round_up(bytes + device->shared_reserved, device->major < 8 ? 256 : 128);
	return each ? device->shared_per_sm / each : INT32_MAX;
}

struct occupancy occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function,
                              unsigned threads, size_t dynamic_shared) {
	int64_t warps = threads ? ((int64_t)threads + WARP - 1) / WARP : 1, all = device->threads_per_sm / WARP;
	/* The first limit is named on a tie. */
	const struct {
		const char *name;
		int64_t blocks;
	} limits[] = {
		{"threads", threads > (unsigned)device->threads_per_block ? 0 : all / warps},
		{"registers", by_registers(device, function->registers, warps)},
		{"shared memory", by_shared(device, function->shared_bytes + (int64_t)dynamic_shared)},
		{"blocks", device->blocks_per_sm},
	};
	size_t least = 0;
	for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].blocks < limits[least].blocks)
			least = i;
	int64_t blocks = limits[least].blocks;
	return (struct occupancy){(int)blocks, all ? (double)(blocks * warps) / (double)all : 0, limits[least].name};
}

double gpu_occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function, unsigned threads,
                        size_t dynamic_shared, const char **limiter) {
	struct occupancy o = occupancy_of(device, function, threads, dynamic_shared);
	*limiter = o.limiter;
	return o.occupancy;
}

/* Records launches. Entries are never removed, because graphs refer to them by number. */

static bool is_same(const struct launch_entry *entry, const struct gpu_function *function,
                    const struct gpu_shape *shape) {
	return entry->function == function && entry->shape.shared == shape->shared &&
	       entry->shape.cooperative == shape->cooperative &&
	       memcmp(entry->shape.grid, shape->grid, sizeof shape->grid) == 0 &&
	       memcmp(entry->shape.block, shape->block, sizeof shape->block) == 0;
}

/* Returns a new entry; NULL if all are taken, and then the launch is not recorded. */
static struct launch_entry *entry_new(struct launch_log *log) {
	return log->count < LAUNCHES_MAX ? &log->entries[log->count++] : NULL;
}

static void launch_log_add(struct launch_log *log, const struct gpu_function *function, const struct gpu_shape *shape,
                           int64_t launches) {
	size_t i = log->last;
	if (i >= log->count || !is_same(&log->entries[i], function, shape))
		for (i = 0; i < log->count && !is_same(&log->entries[i], function, shape); i++)
			;
	struct launch_entry *entry = i < log->count ? &log->entries[i] : entry_new(log);
	if (!entry)
		return;
	if (i == log->count - 1 && entry->launches == 0)
		*entry = (struct launch_entry){function, *shape, 0};
	entry->launches += launches;
	log->last = i;
}

size_t gpu_launches(const struct gpu *gpu, struct gpu_launched *out, size_t most) {
	size_t count = 0;
	for (size_t i = 0; i < gpu->log.count && count < most; i++) {
		const struct launch_entry *entry = &gpu->log.entries[i];
		const struct gpu_shape *shape = &entry->shape;
		if (entry->launches == 0)
			continue;
		struct occupancy o = {0, NAN, NULL}; /* only for the warps of NVIDIA's GPUs */
		if (gpu->facts.kind == GPU_CUDA)
			o = occupancy_of(&gpu->facts, &entry->function->facts, shape->block[0] * shape->block[1] * shape->block[2],
			                 shape->shared);
		out[count++] = (struct gpu_launched){entry->function->name,
		                                     entry->function->facts,
		                                     *shape,
		                                     entry->launches,
		                                     o.occupancy,
		                                     o.limiter,
		                                     (int64_t)o.blocks * gpu->facts.sms};
	}
	return count;
}

void gpu_launches_forget(struct gpu *gpu) {
	for (size_t i = 0; i < gpu->log.count; i++)
		gpu->log.entries[i].launches = 0;
}

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
