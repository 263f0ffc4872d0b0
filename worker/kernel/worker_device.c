/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/kernel/call.h"

#include <sys/resource.h>

struct opened {
	int index;
	struct gpu *gpu;
};

struct devices {
	struct opened *items;
	size_t count;
};

/* CUDA reserves address space for the memory of the host and all devices together, and uses little of it. The
 * tuner's limit on address space, meant for kernels that eat all memory, would keep CUDA, or OpenCL's compilers, from
 * starting. */
static void address_space_open(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_AS, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_AS, &limit);
	}
}

int device_read(const char *word, int *index, struct err *err) {
	*index = DEVICE_CPU;
	if (gpu_device_is(word, "opencl")) {
		address_space_open(); /* a name is looked up in the libraries */
		int failed = gpu_opencl_index(word, index, err);
		*index += DEVICE_OPENCL;
		return failed;
	}
	if (gpu_device_is(word, "hip")) {
		int failed = gpu_hip_index(word, index, err);
		*index += DEVICE_HIP;
		return failed;
	}
	return strcmp(word, "cpu") == 0 ? 0 : gpu_index(word, index, err);
}

const char *device_kind(int index) {
	return index == DEVICE_CPU ? "cpu" : index >= DEVICE_HIP ? "hip" : index >= DEVICE_OPENCL ? "opencl" : "cuda";
}

const char *device_kind_of(const struct gpu *gpu) {
	static const char *const words[] = {[GPU_CUDA] = "cuda", [GPU_OPENCL] = "opencl", [GPU_HIP] = "hip"};
	return gpu ? words[gpu_facts(gpu)->kind] : "cpu";
}

struct devices *devices_new(void) {
	return mem_alloc(1, sizeof(struct devices));
}

void devices_free(struct devices *devices) {
	if (devices) {
		for (size_t i = 0; i < devices->count; i++)
			gpu_close(devices->items[i].gpu);
		free(devices->items);
		free(devices);
	}
}

struct gpu *devices_get(struct devices *devices, int index, struct err *err) {
	if (index == DEVICE_CPU)
		return NULL;
	for (size_t i = 0; i < devices->count; i++)
		if (devices->items[i].index == index)
			return devices->items[i].gpu;
	address_space_open();
	struct gpu *gpu = index >= DEVICE_HIP      ? gpu_hip_open(index - DEVICE_HIP, err)
	                  : index >= DEVICE_OPENCL ? gpu_opencl_open(index - DEVICE_OPENCL, err)
	                                           : gpu_open(index, err);
	if (gpu) {
		devices->items = mem_grow(devices->items, devices->count + 1, sizeof *devices->items);
		devices->items[devices->count++] = (struct opened){index, gpu};
	}
	return gpu;
}

/* A GPU of CUDA tells them without a context, which takes as long as everything before it. */
bool devices_facts(struct devices *devices, int index, struct gpu_facts *facts, struct err *err) {
	struct gpu_part nvrtc = {.usable = false};
	address_space_open();
	if (index < DEVICE_OPENCL && gpu_probe(index, facts))
		gpu_part(GPU_PART_NVRTC, &nvrtc);
	if (nvrtc.usable)
		return true;
	const struct gpu *gpu = devices_get(devices, index, err);
	if (gpu)
		*facts = *gpu_facts(gpu);
	return gpu;
}
