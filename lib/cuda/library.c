/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/inject_impl.h"

static void *library_find(const char *named) {
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
	void *handle = named && *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return handle;
}

const struct inject_cupti *inject_cupti(struct cuda_record *record) {
	static struct inject_cupti found;
	const char *named = getenv("SWEETSPOT_CUDA_CUPTI"), *missing = NULL;
	void *handle = library_find(named);
	if (!handle) {
		const char *why = dlerror();
		inject_fail(record, "libcupti cannot be opened: %.140s", why ? why : "it is not in the linker's path");
		return NULL;
	}
#define INJECT_LOOK(name)                                                                                              \
	if (!(*(void **)&found.name = dlsym(handle, #name)))                                                               \
		missing = #name;
	INJECT_FUNCTIONS(INJECT_LOOK)
#undef INJECT_LOOK
	if (missing) {
		inject_fail(record, "libcupti is older than CUDA 12.6: it does not export %s", missing);
		return NULL;
	}
	found.cuptiGetVersion(&record->cupti);
	return &found;
}

bool inject_fine(const struct inject_cupti *cupti, struct cuda_record *record, CUptiResult result, const char *what) {
	const char *text = NULL;
	if (result == CUPTI_SUCCESS)
		return true;
	cupti->cuptiGetResultString(result, &text);
	if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
		inject_fail(record, "the driver denies GPU counters (ERR_NVGPUCTRPERM): be root or have CAP_SYS_ADMIN, or load "
		                    "the nvidia module with NVreg_RestrictProfilingToAdminUsers=0");
	else if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		inject_fail(record, "the program or another tool uses CUPTI already");
	else
		inject_fail(record, "%s: %s (%d)", what, text ? text : "unknown failure", (int)result);
	return false;
}
