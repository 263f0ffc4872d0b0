/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL's implementations on this machine and their devices, opened at run time. */
#ifndef GPU_OPENCL_LIBRARY_H
#define GPU_OPENCL_LIBRARY_H
#include <stdbool.h>

#include "gpu/opencl/abi.h"
#include "gpu/gpu.h"

struct opencl_calls {
#define OPENCL_POINTER(name, symbol, place, result, parameters) result(*name) parameters;
	OPENCL_CALLS(OPENCL_POINTER)
#undef OPENCL_POINTER
};

struct opencl_found {
	const struct opencl_calls *calls;
	opencl_platform platform;
	opencl_device device;
};

enum { OPENCL_DEVICES_MAX = 64, OPENCL_PLATFORMS_MAX = 16, OPENCL_WHY = 200 };
struct opencl_list {
	struct opencl_calls calls[OPENCL_PLATFORMS_MAX];
	struct opencl_found devices[OPENCL_DEVICES_MAX];
	size_t platforms, count;
	char path[256];                           /* of the first library that was opened */
	char reason[OPENCL_WHY], fix[OPENCL_WHY]; /* why there is no device, and the remedy */
};

/* Never NULL; count is 0 with a reason if there is no device that can compile. Libraries stay in the process. */
struct opencl_list *opencl_list_new(void);
void opencl_list_free(struct opencl_list *list);
/* Fills in name, platform, driver, and the sizes that OpenCL knows; index is its place in the list. */
void opencl_facts(const struct opencl_list *list, size_t at, struct gpu_facts *facts);
/* "", "1" or a part of a platform's or device's name, in any case. Returns the number of devices if none matches. */
size_t opencl_find(const struct opencl_list *list, const char *word);
/* "CL_OUT_OF_RESOURCES", or "error -9999". */
const char *opencl_result_text(int32_t result, char *text, size_t size);

#endif
