/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "gpu/opencl/impl.h"
#include "src/base/mem.h"

static const uint64_t FIRST_ADDRESS = UINT64_C(1) << 32;

static enum gpu_failure failure_of(int32_t result) {
	switch (result) {
	case OPENCL_ALLOCATION_FAILURE:
	case OPENCL_OUT_OF_HOST_MEMORY:
	case OPENCL_INVALID_BUFFER_SIZE:
		return GPU_NO_MEMORY;
	case OPENCL_BUILD_FAILURE:
	case OPENCL_COMPILE_FAILURE:
	case OPENCL_LINK_FAILURE:
	case OPENCL_INVALID_BUILD_OPTIONS:
	case OPENCL_INVALID_PROGRAM_EXECUTABLE:
	case OPENCL_INVALID_KERNEL_NAME:
	case OPENCL_INVALID_KERNEL_DEFINITION:
	case OPENCL_INVALID_ARG_INDEX:
	case OPENCL_INVALID_ARG_VALUE:
	case OPENCL_INVALID_ARG_SIZE:
		return GPU_COMPILE;
	case OPENCL_DEVICE_NOT_AVAILABLE:
	case OPENCL_EXEC_ERROR:
		return GPU_BROKEN;
	default:
		return GPU_REFUSED;
	}
}

bool opencl_succeeded(struct opencl *ocl, const char *call, int32_t result) {
	char text[32];
	if (result != OPENCL_SUCCESS)
		gpu_fail(ocl->gpu, failure_of(result), "%s: %s", call, opencl_result_text(result, text, sizeof text));
	return result == OPENCL_SUCCESS;
}

bool opencl_ended(struct opencl *ocl, const char *call, int32_t result) {
	char text[32];
	if (result != OPENCL_SUCCESS)
		gpu_fail(ocl->gpu, GPU_BROKEN, "%s: %s", call, opencl_result_text(result, text, sizeof text));
	return result == OPENCL_SUCCESS;
}

static bool sizes_read(struct opencl *ocl) {
	const struct opencl_calls *calls = ocl->calls;
	uint64_t local = 0;
	size_t sizes[16] = {0};
	if (calls->device_info(ocl->device, OPENCL_DEVICE_GROUP_SIZE, sizeof ocl->group_size, &ocl->group_size, NULL) ||
	    calls->device_info(ocl->device, OPENCL_DEVICE_ITEM_SIZES, sizeof sizes, sizes, NULL) ||
	    calls->device_info(ocl->device, OPENCL_DEVICE_LOCAL, sizeof local, &local, NULL))
		return false;
	for (int i = 0; i < 3; i++)
		ocl->item_sizes[i] = sizes[i];
	ocl->local_bytes = (size_t)local;
	return true;
}

static int context_make(struct opencl *ocl, struct err *err) {
	char name[32];
	int32_t result = OPENCL_SUCCESS;
	ocl->context = ocl->calls->context_create(NULL, 1, &ocl->device, NULL, NULL, &result);
	if (ocl->context && result == OPENCL_SUCCESS)
		ocl->queue = ocl->calls->queue_create(ocl->context, ocl->device, OPENCL_QUEUE_PROFILING, &result);
	if (ocl->queue && result == OPENCL_SUCCESS && sizes_read(ocl))
		return 0;
	return err_set(err, ERR_UNAVAILABLE, "another process may have it, or its driver needs more rights",
	               "the OpenCL device cannot be opened: %s", opencl_result_text(result, name, sizeof name));
}

static int device_choose(struct opencl *ocl, const char *word, struct gpu_facts *facts, struct err *err) {
	const struct opencl_list *list = ocl->list;
	size_t at = opencl_find(list, word);
	if (!list->count)
		return err_set(err, ERR_UNAVAILABLE, list->fix, "%s", list->reason);
	if (at == list->count)
		return err_set(err, ERR_UNAVAILABLE, "sweetspot doctor lists them; opencl:0 is the first one",
		               "opencl:%.60s does not exist: this machine has %zu OpenCL device%s", word, list->count,
		               list->count == 1 ? "" : "s");
	opencl_facts(list, at, facts);
	ocl->calls = list->devices[at].calls;
	ocl->device = list->devices[at].device;
	snprintf(ocl->identity, sizeof ocl->identity, "OpenCL\n%s\n%s\n%s", facts->platform, facts->name, facts->driver);
	return 0;
}

struct opencl *opencl_open(struct gpu *gpu, const char *word, struct gpu_facts *facts, struct err *err) {
	struct opencl *ocl = mem_alloc(1, sizeof *ocl);
	ocl->gpu = gpu;
	ocl->next = FIRST_ADDRESS;
	ocl->list = opencl_list_new();
	if (device_choose(ocl, word, facts, err) == 0 && context_make(ocl, err) == 0)
		return ocl;
	opencl_close(ocl);
	return NULL;
}

void opencl_close(struct opencl *ocl) {
	opencl_events_drop(ocl);
	for (size_t i = 0; i < ocl->count; i++)
		ocl->calls->memory_release(ocl->buffers[i].handle);
	if (ocl->queue)
		ocl->calls->queue_release(ocl->queue);
	if (ocl->context)
		ocl->calls->context_release(ocl->context);
	opencl_list_free(ocl->list);
	free(ocl);
}

const char *opencl_identity(const struct opencl *ocl) {
	return ocl->identity;
}
