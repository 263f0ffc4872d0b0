/* SPDX-License-Identifier: BSD-3-Clause */
/* The facts of a device, and its primary context. */
#include "gpu/backend.h"
#include "base/mem.h"
#include "base/text.h"

/* Keeps failures until somebody asks for them. */

/* After these errors the context answers every call with the same error, or is gone. */
static const driver_result fatal[] = {
	DRIVER_NOT_INITIALIZED,
	DRIVER_DEINITIALIZED,
	DRIVER_DEVICE_UNAVAILABLE,
	DRIVER_INVALID_CONTEXT,
	DRIVER_ECC,
	DRIVER_NVLINK,
	DRIVER_CONTAINED,
	DRIVER_OPERATING_SYSTEM,
	DRIVER_ILLEGAL_ADDRESS,
	DRIVER_TIMEOUT,
	DRIVER_CONTEXT_DESTROYED,
	DRIVER_ASSERT,
	DRIVER_STACK,
	DRIVER_ILLEGAL_INSTRUCTION,
	DRIVER_MISALIGNED,
	DRIVER_ADDRESS_SPACE,
	DRIVER_INVALID_PC,
	DRIVER_LAUNCH_FAILED,
	DRIVER_UNKNOWN,
};

enum gpu_failure gpu_failure_of(driver_result result) {
	if (result == DRIVER_SUCCESS)
		return GPU_FINE;
	if (result == DRIVER_OUT_OF_MEMORY)
		return GPU_NO_MEMORY;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		if (result == fatal[i])
			return GPU_BROKEN;
	return GPU_REFUSED;
}

/* Keeps the first failure, unless a later one breaks the device. */
void gpu_fail(struct gpu *gpu, enum gpu_failure failure, const char *format, ...) {
	if (gpu->failure != GPU_FINE && (failure != GPU_BROKEN || gpu->failure == GPU_BROKEN))
		return;
	va_list ap;
	va_start(ap, format);
	vsnprintf(gpu->message, sizeof gpu->message, format, ap);
	va_end(ap);
	text_clean(gpu->message, false);
	gpu->failure = failure;
}

bool gpu_succeeded(struct gpu *gpu, const char *call, driver_result result) {
	if (result == DRIVER_SUCCESS)
		return true;
	char words[sizeof gpu->message];
	driver_words(&gpu->driver, library_symbol(gpu->driver.api->symbols, call), result, words, sizeof words);
	gpu_fail(gpu, gpu_failure_of(result), "%s", words);
	return false;
}

bool gpu_lacks(struct gpu *gpu, const char *call) {
	gpu_fail(gpu, GPU_REFUSED, "this driver lacks %s: a newer one is needed",
	         library_symbol(gpu->driver.api->symbols, call));
	return false;
}

enum gpu_failure gpu_failed(struct gpu *gpu, char *message, size_t size) {
	enum gpu_failure failure = gpu->failure;
	if (size)
		snprintf(message, size, "%s", failure == GPU_FINE ? "" : gpu->message);
	if (failure != GPU_BROKEN)
		gpu->failure = GPU_FINE;
	return failure;
}

bool gpu_is_fine(const struct gpu *gpu) {
	return gpu->failure == GPU_FINE;
}

bool gpu_enter_to_free(struct gpu *gpu) {
	if (gpu->failure == GPU_BROKEN)
		return false;
	if (gpu->backend)
		return true;
	return GPU_CALL(gpu, context_set, gpu->context);
}

bool gpu_enter(struct gpu *gpu) {
	return gpu->failure == GPU_FINE && gpu_enter_to_free(gpu);
}

/* Closes a gpu. A broken one makes no further driver calls, because they might not return and the process ends anyway.
 */

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
		free(module->image);
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
	if (works && !gpu->adopted)
		GPU_CALL(gpu, context_release, gpu->device);
	nvml_close(&gpu->nvml);
	nvrtc_close(&gpu->compiler.nvrtc);
	driver_close(&gpu->driver);
	free(gpu->compiler.folder);
	free(gpu->compiler.nvcc);
	free(gpu->recording);
	free(gpu);
}

static int number(const struct driver *driver, driver_device device, int which) {
	int value = 0, theirs = driver->api->attribute(which);
	if (theirs < 0 || driver->device_attribute(&value, theirs, device) != DRIVER_SUCCESS)
		value = 0;
	return value;
}

/* Writes the UUID in nvidia-smi's format. */
static void uuid_text(const driver_uuid *uuid, char *text, size_t size) {
	int used = snprintf(text, size, "GPU-");
	for (int i = 0; i < 16 && used > 0 && (size_t)used < size; i++)
		used += snprintf(text + used, size - (size_t)used, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		                 (unsigned)(unsigned char)uuid->bytes[i]);
}

static void numbers_read(const struct driver *driver, driver_device device, struct gpu_facts *facts) {
	const struct {
		int which, *to;
	} all[] = {
		{DRIVER_MAJOR, &facts->major},
		{DRIVER_MINOR, &facts->minor},
		{DRIVER_SMS, &facts->sms},
		{DRIVER_THREADS_PER_SM, &facts->threads_per_sm},
		{DRIVER_BLOCKS_PER_SM, &facts->blocks_per_sm},
		{DRIVER_REGISTERS_PER_SM, &facts->registers_per_sm},
		{DRIVER_REGISTERS_PER_BLOCK, &facts->registers_per_block},
		{DRIVER_THREADS_PER_BLOCK, &facts->threads_per_block},
		{DRIVER_SHARED_PER_SM, &facts->shared_per_sm},
		{DRIVER_SHARED_OPTIN, &facts->shared_per_block},
		{DRIVER_SHARED_RESERVED, &facts->shared_reserved},
		{DRIVER_CLOCK, &facts->clock_khz},
		{DRIVER_MEMORY_CLOCK, &facts->memory_clock_khz},
		{DRIVER_MEMORY_BUS, &facts->memory_bus_bits},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		*all[i].to = number(driver, device, all[i].which);
	if (facts->shared_per_block <= 0)
		facts->shared_per_block = number(driver, device, DRIVER_SHARED_PER_BLOCK);
	facts->l2_bytes = number(driver, device, DRIVER_L2);
	facts->cooperative = number(driver, device, DRIVER_COOPERATIVE) != 0;
}

bool device_facts(const struct driver *driver, int index, struct gpu_facts *facts) {
	driver_device device;
	driver_uuid uuid;
	size_t memory = 0;
	*facts = (struct gpu_facts){.kind = driver->api->kind, .index = index};
	if (driver->device_get(&device, index) != DRIVER_SUCCESS)
		return false;
	if (driver->device_name(facts->name, sizeof facts->name, device) != DRIVER_SUCCESS)
		snprintf(facts->name, sizeof facts->name, "?");
	facts->name[sizeof facts->name - 1] = '\0';
	if (driver->device_uuid && driver->device_uuid(&uuid, device) == DRIVER_SUCCESS)
		uuid_text(&uuid, facts->uuid, sizeof facts->uuid);
	if (driver->device_memory(&memory, device) == DRIVER_SUCCESS)
		facts->memory_bytes = (int64_t)memory;
	numbers_read(driver, device, facts);
	return true;
}

int device_count(const struct driver *driver) {
	int count = 0;
	return driver->device_count(&count) == DRIVER_SUCCESS && count > 0 ? count : 0;
}

bool gpu_probe(int index, struct gpu_facts *facts) {
	struct driver driver;
	struct library_why why;
	*facts = (struct gpu_facts){.index = index};
	if (!driver_cuda.open(&driver, &why))
		return false;
	bool found = index >= 0 && index < device_count(&driver) && device_facts(&driver, index, facts);
	driver_close(&driver);
	return found;
}

bool gpu_device_is(const char *device, const char *kind) {
	size_t length = strlen(kind);
	return strncmp(device, kind, length) == 0 && (!device[length] || (device[length] == ':' && device[length + 1]));
}

const char *gpu_device_rest(const char *device, const char *kind) {
	return device + strlen(kind) + (device[strlen(kind)] == ':');
}

int gpu_index(const char *device, int *index, struct err *err) {
	const char *word = gpu_device_is(device, "cuda") ? gpu_device_rest(device, "cuda") : "?";
	long n = strtol(word, NULL, 10);
	*index = (int)n;
	if (word[strspn(word, "0123456789")] == '\0' && n < GPU_PEERS_MAX)
		return 0;
	return err_set(err, ERR_USAGE, "cuda is the first GPU, cuda:1 the second, opencl the first OpenCL device",
	               "\"%s\" is not a GPU", device);
}

/* The driver, which must know the device facts.index, and the compiler. */
static int libraries_open(struct gpu *gpu, const struct driver_api *api, struct err *err) {
	struct library_why why;
	if (!api->open(&gpu->driver, &why) || !api->compiler_open(&gpu->compiler.nvrtc, gpu->driver.version / 1000, &why))
		return err_set(err, ERR_UNAVAILABLE, why.fix, "%s", why.reason);
	int count = device_count(&gpu->driver);
	if (gpu->facts.index < count)
		return 0;
	err_set(err, ERR_UNAVAILABLE, NULL, "%s:%d does not exist: this machine has %d GPU%s", api->device,
	        gpu->facts.index, count, count == 1 ? "" : "s");
	return count ? err_hint(err, "%s:0 is the first one", api->device)
	             : err_hint(err, "look at what %s lists", api->list);
}

static int context_make(struct gpu *gpu, struct err *err) {
	const struct driver_api *api = gpu->driver.api;
	int index = gpu->facts.index, least, greatest;
	if (!device_facts(&gpu->driver, index, &gpu->facts))
		return err_set(err, ERR_UNAVAILABLE, NULL, "the driver does not give %s:%d", api->device, index);
	if (GPU_CALL(gpu, device_get, &gpu->device, index) && GPU_CALL(gpu, context_retain, &gpu->context, gpu->device) &&
	    gpu_enter(gpu) && GPU_CALL(gpu, priorities, &least, &greatest) &&
	    GPU_CALL(gpu, stream_create, &gpu->own.handle, DRIVER_STREAM_NON_BLOCKING, least))
		return 0;
	err_set(err, ERR_UNAVAILABLE, NULL, "%s:%d cannot be opened: %s", api->device, index, gpu->message);
	return err_hint(err, "check with %s whether another process uses it, and its compute mode", api->list);
}

struct gpu *device_open(const struct driver_api *api, int index, struct gpu *root, struct err *err) {
	struct gpu *gpu = mem_alloc(1, sizeof *gpu);
	gpu->root = root ? root : gpu;
	gpu->use = &gpu->own;
	gpu->facts.index = index;
	if (libraries_open(gpu, api, err) == 0 && context_make(gpu, err) == 0)
		return gpu;
	gpu_close(gpu);
	return NULL;
}

struct gpu *gpu_open(int index, struct err *err) {
	return device_open(&driver_cuda, index, NULL, err);
}

const struct gpu_facts *gpu_facts(const struct gpu *gpu) {
	return &gpu->facts;
}

void *gpu_context(struct gpu *gpu) {
	gpu_enter_to_free(gpu);
	return gpu->context;
}

/* Several GPUs of one process: the one that was opened first opens all others. */

int gpu_peers(struct gpu *gpu) {
	int count = 1;
	if (!gpu_enter(gpu) || !GPU_CALL(gpu, device_count, &count))
		return 1;
	return count < 1 ? 1 : count > GPU_PEERS_MAX ? GPU_PEERS_MAX : count;
}

static bool access_enable(struct gpu *from, struct gpu *to) {
	int possible = 0;
	if (!GPU_CALL(from, peer_possible, &possible, from->device, to->device) || !possible || !gpu_enter(from))
		return false;
	driver_result result = from->driver.peer_enable ? from->driver.peer_enable(to->context, 0) : DRIVER_NOT_FOUND;
	return result == DRIVER_SUCCESS || result == DRIVER_PEER_ENABLED;
}

static struct gpu *at_index(struct gpu *root, int index) {
	return index == root->facts.index ? root : root->peers[index];
}

static struct gpu *peer_open(struct gpu *gpu, int index) {
	struct err err;
	struct gpu *root = gpu->root, *peer = device_open(root->driver.api, index, root, &err);
	if (!peer) {
		gpu_fail(gpu, GPU_REFUSED, "%s", err.what);
		return NULL;
	}
	for (int i = 0; i < GPU_PEERS_MAX; i++) {
		struct gpu *other = at_index(root, i);
		if (other && other != peer) {
			access_enable(peer, other);
			access_enable(other, peer);
		}
	}
	return root->peers[index] = peer;
}

struct gpu *gpu_peer(struct gpu *gpu, int i) {
	int own = gpu->facts.index, index = i == 0 ? own : i <= own ? i - 1 : i;
	if (i < 0 || i >= gpu_peers(gpu)) {
		gpu_fail(gpu, GPU_REFUSED, "there are not %d GPUs", i + 1);
		return NULL;
	}
	struct gpu *peer = at_index(gpu->root, index);
	return peer ? peer : peer_open(gpu, index);
}

void gpu_copy_peer(struct gpu *gpu, struct gpu *to_gpu, gpu_ptr to, struct gpu *from_gpu, gpu_ptr from, size_t size) {
	if (size && gpu_enter(gpu))
		GPU_CALL(gpu, copy_peer, to, to_gpu->context, from, from_gpu->context, size, gpu->use->handle);
}

/* A gpu within a program that has a context and streams of its own. */

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
