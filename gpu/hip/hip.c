/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "gpu/hip/hip_impl.h"

static const struct library_symbol driver_symbols[] = {
#define HIP_SYMBOL(field, symbol) {#field, #symbol, offsetof(struct driver, field)},
	HIP_CALLS(HIP_SYMBOL){"word", "hipGetErrorName", offsetof(struct driver, word)},
#undef HIP_SYMBOL
	{NULL, NULL, 0},
};
static const struct library_symbol compiler_symbols[] = {
#define HIPRTC_SYMBOL(field, symbol) {#field, #symbol, offsetof(struct nvrtc, field)},
	HIPRTC_CALLS(HIPRTC_SYMBOL)
#undef HIPRTC_SYMBOL
		{NULL, NULL, 0},
};
static const char fix[] = "install ROCm's HIP (Debian: libamdhip64-5), or name ROCm's folder in ROCM_PATH; a container "
						  "needs /dev/kfd and /dev/dri";

static bool rocm_open(struct library *library, const char *const *names, const char *known) {
	const char *const roots[] = {getenv("ROCM_PATH"), getenv("HIP_PATH"), "/opt/rocm"};
	return library_open(library, names, known, roots, sizeof roots / sizeof *roots);
}

static const struct driver_api hip_api;

static bool hip_open(struct driver *driver, struct library_why *why) {
	static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so",
	                                    NULL};
	char words[LIBRARY_WHY - 32];
	*driver = (struct driver){.api = &hip_api};
	if (!rocm_open(&driver->library, names, "hipInit"))
		return library_because(why, fix, "HIP (libamdhip64.so) was not found");
	if (driver_start(driver, &hip_api, words, sizeof words))
		return true;
	return library_because(why, "look at what rocminfo lists; a container needs /dev/kfd and /dev/dri",
	                       "HIP does not start: %s", words);
}

bool hiprtc_open(struct nvrtc *nvrtc, int driver_major, struct library_why *why) {
	static const char *const names[] = {"libhiprtc.so.7", "libhiprtc.so.6",   "libhiprtc.so.5",
	                                    "libhiprtc.so",   "libamdhip64.so.5", NULL};
	(void)driver_major; /* both are of one ROCm */
	*nvrtc = (struct nvrtc){.is_hip = true};
	if (!rocm_open(&nvrtc->library, names, "hiprtcVersion"))
		return library_because(why, fix, "hiprtc, which compiles for AMD's GPUs, was not found");
	return nvrtc_start(nvrtc, compiler_symbols, fix, why);
}

static int attribute_of(int which) {
	switch (which) {
#define HIP_NUMBER(ours, theirs, value)                                                                                \
	case ours:                                                                                                         \
		return value;
		HIP_NUMBERS(HIP_NUMBER)
#undef HIP_NUMBER
	default:
		return -1;
	}
}

static const struct driver_api hip_api = {.kind = GPU_HIP,
                                          .device = "hip",
                                          .list = "rocminfo",
                                          .open = hip_open,
                                          .compiler_open = hiprtc_open,
                                          .attribute = attribute_of,
                                          .symbols = driver_symbols};

/* 50221153 is 5.2.21153; an early runtime has the number of a build. */
static void version_text(int version, char *text, size_t size) {
	if (version < 10000000)
		snprintf(text, size, "%d", version);
	else
		snprintf(text, size, "%d.%d.%d", version / 10000000, version / 100000 % 100, version % 100000);
}

static void platform_set(const struct driver *driver, struct gpu_facts *facts) {
	snprintf(facts->platform, sizeof facts->platform, "HIP");
	version_text(driver->version, facts->driver, sizeof facts->driver);
}

void gpu_hip_part(struct gpu_part *part) {
	struct driver driver;
	struct library_why why;
	*part = (struct gpu_part){.name = "HIP", .usable = hip_api.open(&driver, &why)};
	snprintf(part->path, sizeof part->path, "%s", driver.library.path); /* also of one that does not start */
	snprintf(part->reason, sizeof part->reason, "%s", part->usable ? "" : why.reason);
	snprintf(part->fix, sizeof part->fix, "%s", part->usable ? "" : why.fix);
	if (part->usable) {
		version_text(driver.version, part->version, sizeof part->version);
		driver_close(&driver);
	}
}

bool gpu_hip_probe(int index, struct gpu_facts *facts) {
	struct driver driver;
	struct library_why why;
	*facts = (struct gpu_facts){.kind = GPU_HIP, .index = index};
	if (!hip_api.open(&driver, &why))
		return false;
	bool found = index >= 0 && index < device_count(&driver) && device_facts(&driver, index, facts);
	platform_set(&driver, facts);
	driver_close(&driver);
	return found;
}

int gpu_hip_index(const char *device, int *index, struct err *err) {
	const char *word = gpu_device_rest(device, "hip");
	*index = atoi(word);
	if (word[strspn(word, "0123456789")] == '\0' && strlen(word) < 4)
		return 0;
	return err_set(err, ERR_USAGE, "hip is the first AMD GPU, hip:1 the second", "\"%s\" is not a GPU", device);
}

struct gpu *gpu_hip_open(int index, struct err *err) {
	struct gpu *gpu = device_open(&hip_api, index, NULL, err);
	if (!gpu)
		return NULL;
	gpu->nvml_tried = true; /* NVML knows NVIDIA's devices */
	platform_set(&gpu->driver, &gpu->facts);
	return gpu;
}
