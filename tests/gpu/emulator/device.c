/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/memory.h"
#include "tests/gpu/emulator/stream.h"

static struct context contexts[DEVICES_MAX];
static _Thread_local struct context *current;
static int initialised;

uint64_t number_from(const char *variable, uint64_t otherwise) {
	const char *text = getenv(variable);
	char *end = NULL;
	uint64_t number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	return end && !*end ? number : otherwise;
}

/* CUDA_VISIBLE_DEVICES hides all that it does not name, from the first unknown number on; the others are alike. */
static uint64_t visible(const char *names, uint64_t all) {
	uint64_t count = 0;
	for (const char *at = names; *at >= '0' && *at <= '9' && strtoull(at, NULL, 10) < all; count++) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return count;
}

int device_count(void) {
	const char *names = getenv("CUDA_VISIBLE_DEVICES");
	uint64_t count = number_from("SWEETSPOT_EMULATED_DEVICES", 1);
	count = names ? visible(names, count) : count;
	return count < DEVICES_MAX ? (int)count : DEVICES_MAX;
}

struct context *context_now(void) {
	return current;
}

struct context *context_of(CUdevice device) {
	return device >= 0 && device < device_count() ? &contexts[device] : NULL;
}

CUresult context_ready(void) {
	if (!initialised)
		return CUDA_ERROR_NOT_INITIALIZED;
	return current && current->retained ? current->failure : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult device_ready(CUdevice device) {
	return !initialised ? CUDA_ERROR_NOT_INITIALIZED : context_of(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CU_EXPORT CUresult cuInit(unsigned flags) {
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (device_count() == 0)
		return CUDA_ERROR_NO_DEVICE;
	initialised = 1;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuDriverGetVersion(int *version) {
	*version = 13000;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuGetErrorName(CUresult result, const char **text) {
	switch (result) {
#define X(name, value, words)                                                                                          \
	case value:                                                                                                        \
		*text = "CUDA_" #name;                                                                                         \
		return CUDA_SUCCESS;
		CUDA_ERRORS(X)
#undef X
	default:
		*text = NULL;
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CU_EXPORT CUresult cuGetErrorString(CUresult result, const char **text) {
	switch (result) {
#define X(name, value, words)                                                                                          \
	case value:                                                                                                        \
		*text = words;                                                                                                 \
		return CUDA_SUCCESS;
		CUDA_ERRORS(X)
#undef X
	default:
		*text = NULL;
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CU_EXPORT CUresult cuDeviceGetCount(int *count) {
	*count = device_count();
	return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CU_EXPORT CUresult cuDeviceGet(CUdevice *device, int index) {
	*device = index;
	return device_ready(index);
}

CU_EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device) {
	if (size > 0)
		snprintf(name, (size_t)size, "Emulated device");
	return device_ready(device);
}

CU_EXPORT CUresult cuDeviceGetUuid_v2(char uuid[16], CUdevice device) {
	memset(uuid, 0xe0, 16);
	uuid[15] = (char)device;
	return device_ready(device);
}

CU_EXPORT CUresult cuDeviceTotalMem_v2(size_t *size, CUdevice device) {
	*size = memory_total();
	return device_ready(device);
}

/* The numbers of CUdevice_attribute. Limits are those of compute capability 9.0 (CUDA C++ Programming Guide, 13.0,
 * table "Technical Specifications per Compute Capability"); how large it is, clocks and bandwidth are made up. */
static const struct {
	int which, value;
} attributes[] = {{1, DEVICE_THREADS},
                  {2, 1024},
                  {3, 1024},
                  {4, 64},
                  {5, 0x7fffffff},
                  {6, 65535},
                  {7, 65535},
                  {8, SHARED_PER_BLOCK},
                  {9, 65536},
                  {10, 32},
                  {11, 0x7fffffff},
                  {12, 65536},
                  {13, 1000000},
                  {14, 512},
                  {15, 1},
                  {16, DEVICE_SMS},
                  {17, 0},
                  {18, 0},
                  {19, 1},
                  {20, 0},
                  {31, 1},
                  {32, 0},
                  {33, 0},
                  {35, 0},
                  {36, 1000000},
                  {37, 512},
                  {38, 1 << 20},
                  {39, DEVICE_SM_THREADS},
                  {40, 2},
                  {41, 1},
                  {50, 0},
                  {75, 9},
                  {76, 0},
                  {78, 1},
                  {79, 1},
                  {80, 1},
                  {81, SHARED_PER_SM},
                  {82, 65536},
                  {83, 0},
                  {88, 0},
                  {95, 1},
                  {97, SHARED_OPTIN},
                  {99, 1},
                  {106, DEVICE_SM_BLOCKS},
                  {108, 0},
                  {111, SHARED_RESERVED},
                  {115, 0},
                  {120, 0}};

CU_EXPORT CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device) {
	CUresult result = device_ready(device);
	if (result == CUDA_SUCCESS && which == 34) {
		*value = device + 1; /* PCI device */
		return CUDA_SUCCESS;
	}
	for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].which == which) {
			*value = attributes[i].value;
			return CUDA_SUCCESS;
		}
	return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
}

CU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
	CUresult result = device_ready(device);
	if (result != CUDA_SUCCESS)
		return result;
	*context = context_of(device);
	(*context)->device = device;
	(*context)->retained++;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
	CUresult result = device_ready(device);
	if (result != CUDA_SUCCESS)
		return result;
	struct context *context = context_of(device);
	if (!context->retained)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--context->retained == 0) {
		streams_finish(context);
		memory_forget(device);
		context->peers = 0; /* the failure stays: only the end of the process heals it */
	}
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
	current = context;
	return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CU_EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
	*context = current;
	return initialised ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CU_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
	if (!current)
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = current->device;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
	*least = 0;
	*greatest = -5;
	return context_ready();
}

CU_EXPORT CUresult cuDeviceCanAccessPeer(int *possible, CUdevice device, CUdevice peer) {
	*possible = device != peer && number_from("SWEETSPOT_EMULATED_PEERS", 1) != 0;
	CUresult result = device_ready(device);
	return result != CUDA_SUCCESS ? result : device_ready(peer);
}

CU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS)
		return result;
	if (flags || !peer || peer == current)
		return CUDA_ERROR_INVALID_VALUE;
	if (current->peers >> peer->device & 1)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	current->peers |= 1u << peer->device;
	return CUDA_SUCCESS;
}
