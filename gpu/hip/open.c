/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "gpu/hip/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/backend.h"
#include "gpu/hip/library.h"

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
	if (!part->usable) {
		snprintf(part->reason, sizeof part->reason, "%s", why.reason);
		snprintf(part->fix, sizeof part->fix, "%s", why.fix);
		return;
	}
	version_text(driver.version, part->version, sizeof part->version);
	driver_close(&driver);
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

static const char HIP[] = "hip";

bool gpu_hip_is(const char *device) {
	size_t length = sizeof HIP - 1;
	return strncmp(device, HIP, length) == 0 && (!device[length] || (device[length] == ':' && device[length + 1]));
}

int gpu_hip_index(const char *device, int *index, struct err *err) {
	const char *word = device[sizeof HIP - 1] ? device + sizeof HIP : "";
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
