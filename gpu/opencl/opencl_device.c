/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>

#include "gpu/backend.h"
#include "gpu/opencl/opencl_impl.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"

enum { CLOCK_LARGEST = 1000000 /* MHz */ };

static void text_read(const struct opencl_found *found, uint32_t which, char *text, size_t size) {
	char whole[1024] = "";
	size_t used = 0;
	bool platform = which == OPENCL_PLATFORM_NAME;
	int32_t result = platform ? found->calls->platform_info(found->platform, which, sizeof whole - 1, whole, &used)
	                          : found->calls->device_info(found->device, which, sizeof whole - 1, whole, &used);
	if (result != OPENCL_SUCCESS)
		whole[0] = '\0';
	text_clean(whole, false);
	snprintf(text, size, "%s", whole[0] ? whole : "?");
}

/* Values have 4 or 8 bytes, in the host's order, which is little-endian for all that we support. */
static uint64_t number_read(const struct opencl_found *found, uint32_t which) {
	uint64_t value = 0;
	int32_t result = found->calls->device_info(found->device, which, sizeof value, &value, NULL);
	return result == OPENCL_SUCCESS ? value : 0;
}

static int whole(uint64_t value) {
	return value > INT_MAX ? INT_MAX : (int)value;
}

/* Fills in name, platform, driver, and the sizes that OpenCL knows; index is its place in the list. */
static void opencl_facts(const struct gpu_opencl *list, size_t at, struct gpu_facts *facts) {
	const struct opencl_found *found = &list->devices[at];
	uint64_t mhz = number_read(found, OPENCL_DEVICE_CLOCK);
	*facts = (struct gpu_facts){.kind = GPU_OPENCL, .index = (int)at};
	text_read(found, OPENCL_DEVICE_NAME, facts->name, sizeof facts->name);
	text_read(found, OPENCL_PLATFORM_NAME, facts->platform, sizeof facts->platform);
	text_read(found, OPENCL_DRIVER_VERSION, facts->driver, sizeof facts->driver);
	facts->sms = whole(number_read(found, OPENCL_DEVICE_UNITS));
	facts->threads_per_block = whole(number_read(found, OPENCL_DEVICE_GROUP_SIZE));
	facts->shared_per_block = whole(number_read(found, OPENCL_DEVICE_LOCAL));
	facts->l2_bytes = (int64_t)(number_read(found, OPENCL_DEVICE_CACHE) & INT64_MAX);
	facts->memory_bytes = (int64_t)(number_read(found, OPENCL_DEVICE_MEMORY) & INT64_MAX);
	facts->clock_khz = mhz < CLOCK_LARGEST ? (int)mhz * 1000 : 0;
}

static bool has(const char *text, const char *word) {
	return strcasestr(text, word);
}

/* "", "1" or a part of a platform's or device's name, in any case. Returns the number of devices if none matches. */
static size_t opencl_find(const struct gpu_opencl *list, const char *word) {
	if (strspn(word, "0123456789") == strlen(word)) {
		unsigned long n = strtoul(word, NULL, 10);
		return n < list->count ? n : list->count;
	}
	for (size_t i = 0; i < list->count; i++) {
		struct gpu_facts facts;
		opencl_facts(list, i, &facts);
		if (has(facts.platform, word) || has(facts.name, word))
			return i;
	}
	return list->count;
}

/* Opens libOpenCL, or without it the implementations that /etc/OpenCL/vendors lists. The second way is that of every
 * ICD loader (cl_khr_icd): it makes pocl-opencl-icd, which does not depend on a loader, enough. */

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
static void *implementation_library(struct gpu_opencl *list, const char *name) {
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

static void devices_add(struct gpu_opencl *list, const struct opencl_calls *calls, opencl_platform platform) {
	opencl_device devices[OPENCL_DEVICES_MAX];
	uint32_t count = 0;
	if (calls->devices(platform, OPENCL_DEVICE_TYPE_ALL, OPENCL_DEVICES_MAX, devices, &count) != OPENCL_SUCCESS)
		return;
	for (uint32_t i = 0; i < count && i < OPENCL_DEVICES_MAX && list->count < OPENCL_DEVICES_MAX; i++)
		if (device_is_usable(calls, devices[i]))
			list->devices[list->count++] = (struct opencl_found){calls, platform, devices[i]};
}

/* An implementation without a loader: cl_khr_icd's entry gives its platforms, which bring the functions. */
static void implementation_open(struct gpu_opencl *list, const char *name) {
	void *(*extension)(const char *) = NULL;
	int32_t (*platforms_of)(uint32_t, opencl_platform *, uint32_t *) = NULL;
	opencl_platform platforms[OPENCL_PLATFORMS_MAX];
	uint32_t count = 0;
	void *handle = implementation_library(list, name),
		 *found = handle ? dlsym(handle, "clGetExtensionFunctionAddress") : NULL;
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
static void implementations_open(struct gpu_opencl *list) {
	const char *folder = getenv("OCL_ICD_VENDORS");
	struct dirent **files;
	folder = folder && folder[0] == '/' ? folder : VENDORS;
	int count = scandir(folder, &files, is_icd, alphasort);
	for (int i = 0; i < count; i++) {
		struct err ignored = {.code = ERR_OK};
		mem_auto char *path = mem_printf("%s/%s", folder, files[i]->d_name);
		mem_auto char *text = i < ICD_FILES_MAX ? sys_read_file(path, ICD_FILE_MAX, NULL, &ignored) : NULL;
		if (text) {
			text[strcspn(text, " \t\r\n")] = '\0';
			implementation_open(list, text);
		}
		free(files[i]);
	}
	if (count >= 0)
		free(files);
}

static bool loader_open(struct gpu_opencl *list) {
	opencl_platform platforms[OPENCL_PLATFORMS_MAX];
	uint32_t count = 0;
	void *handle = implementation_library(list, "libOpenCL.so.1");
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

struct gpu_opencl *gpu_opencl_new(void) {
	struct gpu_opencl *list = mem_alloc(1, sizeof *list);
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

void gpu_opencl_free(struct gpu_opencl *list) {
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

static const uint64_t FIRST_ADDRESS = UINT64_C(1) << 32;

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
	const struct gpu_opencl *list = ocl->list;
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

void opencl_events_drop(struct opencl *ocl) {
	if (ocl->first)
		ocl->calls->event_release(ocl->first);
	if (ocl->last)
		ocl->calls->event_release(ocl->last);
	ocl->first = ocl->last = NULL;
}

static void opencl_close(struct opencl *ocl) {
	opencl_events_drop(ocl);
	for (size_t i = 0; i < ocl->count; i++)
		ocl->calls->memory_release(ocl->buffers[i].handle);
	if (ocl->queue)
		ocl->calls->queue_release(ocl->queue);
	if (ocl->context)
		ocl->calls->context_release(ocl->context);
	gpu_opencl_free(ocl->list);
	free(ocl);
}

struct opencl *opencl_open(struct gpu *gpu, const char *word, struct gpu_facts *facts, struct err *err) {
	struct opencl *ocl = mem_alloc(1, sizeof *ocl);
	ocl->gpu = gpu;
	ocl->next = FIRST_ADDRESS;
	ocl->list = gpu_opencl_new();
	if (device_choose(ocl, word, facts, err) == 0 && context_make(ocl, err) == 0)
		return ocl;
	opencl_close(ocl);
	return NULL;
}

bool gpu_opencl_facts(const struct gpu_opencl *opencl, int i, struct gpu_facts *facts) {
	bool there = i >= 0 && (size_t)i < opencl->count;
	if (there)
		opencl_facts(opencl, (size_t)i, facts);
	return there;
}

void gpu_opencl_part(const struct gpu_opencl *list, struct gpu_part *part) {
	*part = (struct gpu_part){.name = "OpenCL", .usable = list->count > 0};
	snprintf(part->path, sizeof part->path, "%s", list->path);
	snprintf(part->reason, sizeof part->reason, "%s", list->reason);
	snprintf(part->fix, sizeof part->fix, "%s", list->fix);
}

/* A number is not looked up, because opening the device says whether it exists. */
int gpu_opencl_index(const char *device, int *index, struct err *err) {
	const char *word = gpu_device_rest(device, "opencl");
	size_t digits = strspn(word, "0123456789");
	if (word[digits] == '\0' && digits < 4) {
		*index = atoi(word);
		return 0;
	}
	struct gpu_opencl *list = gpu_opencl_new();
	size_t at = opencl_find(list, word), count = list->count;
	*index = (int)at;
	if (!count)
		err_set(err, ERR_UNAVAILABLE, list->fix, "%s", list->reason);
	else if (at == count)
		err_set(err, ERR_UNAVAILABLE, "sweetspot doctor lists platforms and devices",
		        "OpenCL does not have a platform or device like \"%.60s\"", word);
	gpu_opencl_free(list);
	return at < count ? 0 : -1;
}

static void opencl_function_free(struct opencl *ocl, opencl_kernel kernel) {
	if (kernel)
		ocl->calls->kernel_release(kernel);
}

/* After a failure that broke the device, releasing might wait for ever, and the process ends anyway. */
void opencl_device_close(struct gpu *gpu) {
	bool works = gpu->failure != GPU_BROKEN;
	for (struct gpu_module *module = gpu->modules, *next; module; module = next) {
		next = module->next;
		for (struct gpu_function *function = module->functions, *after; function; function = after) {
			after = function->next;
			if (works)
				opencl_function_free(gpu->opencl, function->kernel);
			free(function->passed);
			free(function);
		}
		if (works)
			gpu->opencl->calls->program_release(module->program);
		free(module->id);
		free(module);
	}
	if (works)
		opencl_close(gpu->opencl);
	free(gpu->compiler.folder);
	free(gpu);
}
