/* SPDX-License-Identifier: BSD-3-Clause */
/* The facts of a device, and its primary context. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

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

int gpu_count(void) {
	struct driver driver;
	struct library_why why;
	if (!driver_open(&driver, &why))
		return 0;
	int count = device_count(&driver);
	driver_close(&driver);
	return count;
}

bool gpu_probe(int index, struct gpu_facts *facts) {
	struct driver driver;
	struct library_why why;
	*facts = (struct gpu_facts){.index = index};
	if (!driver_open(&driver, &why))
		return false;
	bool found = index >= 0 && index < device_count(&driver) && device_facts(&driver, index, facts);
	driver_close(&driver);
	return found;
}

int gpu_index(const char *device, int *index, struct err *err) {
	char *end;
	*index = 0;
	if (strcmp(device, "cuda") == 0)
		return 0;
	if (strncmp(device, "cuda:", 5) == 0 && device[5] >= '0' && device[5] <= '9') {
		long n = strtol(device + 5, &end, 10);
		*index = (int)n;
		if (*end == '\0' && n >= 0 && n < GPU_PEERS_MAX)
			return 0;
	}
	return err_set(err, ERR_USAGE, "cuda is the first GPU, cuda:1 the second, opencl the first OpenCL device",
	               "\"%s\" is not a GPU", device);
}

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
