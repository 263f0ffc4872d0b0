/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens libOpenCL, or without it the implementations that /etc/OpenCL/vendors lists. The second way is that of every
 * ICD loader (cl_khr_icd): it makes pocl-opencl-icd, which does not depend on a loader, enough. */
#include <config.h>

#include "gpu/opencl/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sys.h"

enum { ICD_FILE_MAX = 4096, ICD_FILES_MAX = 64 };
static const char VENDORS[] = "/etc/OpenCL/vendors";

static const struct symbol {
	const char *name;
	size_t offset, place;
} symbols[] = {
#define OPENCL_SYMBOL(field, symbol, place, result, parameters) {#symbol, offsetof(struct opencl_calls, field), place},
	OPENCL_CALLS(OPENCL_SYMBOL)
#undef OPENCL_SYMBOL
};
enum { SYMBOLS = sizeof symbols / sizeof *symbols };

static void call_set(struct opencl_calls *calls, size_t offset, void *found) {
	memcpy((char *)calls + offset, &found, sizeof found);
}

/* Implementations have threads and handlers of their own, so they are never unmapped. */
static void *library_open(struct opencl_list *list, const char *name) {
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (handle && !list->path[0])
		snprintf(list->path, sizeof list->path, "%s", name);
	return handle;
}

/* False if the library is older than OpenCL 1.2. */
static bool calls_by_name(struct opencl_calls *calls, void *handle) {
	for (size_t i = 0; i < SYMBOLS; i++) {
		void *found = dlsym(handle, symbols[i].name);
		if (!found)
			return false;
		call_set(calls, symbols[i].offset, found);
	}
	return true;
}

/* Each object of an implementation begins with a pointer to its table of functions. */
static bool calls_by_table(struct opencl_calls *calls, opencl_platform platform) {
	void *const *table;
	memcpy(&table, (const void *)platform, sizeof table);
	for (size_t i = 0; table && i < SYMBOLS; i++) {
		if (!table[symbols[i].place])
			return false;
		call_set(calls, symbols[i].offset, table[symbols[i].place]);
	}
	return table;
}

static bool device_is_usable(const struct opencl_calls *calls, opencl_device device) {
	uint32_t available = 0, compiler = 0;
	return calls->device_info(device, OPENCL_DEVICE_AVAILABLE, sizeof available, &available, NULL) == OPENCL_SUCCESS &&
	       calls->device_info(device, OPENCL_DEVICE_COMPILER, sizeof compiler, &compiler, NULL) == OPENCL_SUCCESS &&
	       available && compiler;
}

static void devices_add(struct opencl_list *list, const struct opencl_calls *calls, opencl_platform platform) {
	opencl_device devices[OPENCL_DEVICES_MAX];
	uint32_t count = 0;
	if (calls->devices(platform, OPENCL_DEVICE_TYPE_ALL, OPENCL_DEVICES_MAX, devices, &count) != OPENCL_SUCCESS)
		return;
	for (uint32_t i = 0; i < count && i < OPENCL_DEVICES_MAX && list->count < OPENCL_DEVICES_MAX; i++)
		if (device_is_usable(calls, devices[i]))
			list->devices[list->count++] = (struct opencl_found){calls, platform, devices[i]};
}

/* An implementation without a loader: cl_khr_icd's entry gives its platforms, which bring the functions. */
static void implementation_open(struct opencl_list *list, const char *name) {
	void *(*extension)(const char *) = NULL;
	int32_t (*platforms_of)(uint32_t, opencl_platform *, uint32_t *) = NULL;
	opencl_platform platforms[OPENCL_PLATFORMS_MAX];
	uint32_t count = 0;
	void *handle = library_open(list, name), *found = handle ? dlsym(handle, "clGetExtensionFunctionAddress") : NULL;
	memcpy(&extension, &found, sizeof found);
	void *entry = found ? extension("clIcdGetPlatformIDsKHR") : NULL;
	memcpy(&platforms_of, &entry, sizeof entry);
	if (!entry || platforms_of(OPENCL_PLATFORMS_MAX, platforms, &count) != OPENCL_SUCCESS)
		return;
	for (uint32_t i = 0; i < count && i < OPENCL_PLATFORMS_MAX && list->platforms < OPENCL_PLATFORMS_MAX; i++) {
		struct opencl_calls *calls = &list->calls[list->platforms];
		if (!calls_by_table(calls, platforms[i]))
			continue;
		list->platforms++;
		devices_add(list, calls, platforms[i]);
	}
}

static int is_icd(const struct dirent *entry) {
	size_t length = strlen(entry->d_name);
	return length > 4 && strcmp(entry->d_name + length - 4, ".icd") == 0;
}

/* Each file has the name of a library in its first line. OCL_ICD_VENDORS is the folder's name for ICD loaders, too. */
static void implementations_open(struct opencl_list *list) {
	const char *folder = getenv("OCL_ICD_VENDORS");
	struct dirent **files;
	folder = folder && folder[0] == '/' ? folder : VENDORS;
	int count = scandir(folder, &files, is_icd, alphasort);
	for (int i = 0; i < count; i++) {
		struct err ignored = {.code = ERR_OK};
		char *path = mem_printf("%s/%s", folder, files[i]->d_name);
		char *text = i < ICD_FILES_MAX ? sys_read_file(path, ICD_FILE_MAX, NULL, &ignored) : NULL;
		if (text) {
			text[strcspn(text, " \t\r\n")] = '\0';
			implementation_open(list, text);
		}
		free(text);
		free(path);
		free(files[i]);
	}
	if (count >= 0)
		free(files);
}

static bool loader_open(struct opencl_list *list) {
	opencl_platform platforms[OPENCL_PLATFORMS_MAX];
	uint32_t count = 0;
	void *handle = library_open(list, "libOpenCL.so.1");
	struct opencl_calls *calls = &list->calls[0];
	if (!handle || !calls_by_name(calls, handle))
		return false;
	list->platforms = 1;
	if (calls->platforms(OPENCL_PLATFORMS_MAX, platforms, &count) != OPENCL_SUCCESS)
		return true;
	for (uint32_t i = 0; i < count && i < OPENCL_PLATFORMS_MAX; i++)
		devices_add(list, calls, platforms[i]);
	return true;
}

struct opencl_list *opencl_list_new(void) {
	struct opencl_list *list = mem_alloc(1, sizeof *list);
	if (!loader_open(list))
		implementations_open(list);
	if (list->count)
		return list;
	snprintf(list->reason, sizeof list->reason, "%s",
	         list->path[0] ? "OpenCL does not show a device that can compile"
	                       : "an OpenCL library (libOpenCL.so.1, or one that /etc/OpenCL/vendors lists) was not found");
	snprintf(list->fix, sizeof list->fix,
	         "install the device's driver with OpenCL; pocl-opencl-icd runs OpenCL on the CPU");
	return list;
}

void opencl_list_free(struct opencl_list *list) {
	free(list);
}

const char *opencl_result_text(int32_t result, char *text, size_t size) {
	static const struct {
		int32_t result;
		const char *name;
	} names[] = {
#define OPENCL_NAME(name, theirs, value) {value, #theirs},
		OPENCL_RESULTS(OPENCL_NAME)
#undef OPENCL_NAME
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].result == result)
			return names[i].name;
	snprintf(text, size, "error %d", (int)result);
	return text;
}
