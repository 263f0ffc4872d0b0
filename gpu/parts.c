/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the parts of CUDA on this machine. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "gpu/library.h"
#include "gpu/open.h"

static void part_fill(struct gpu_part *part, bool usable, const struct library *library,
                      const struct library_why *why) {
	part->usable = usable;
	if (usable)
		snprintf(part->path, sizeof part->path, "%s", library->path);
	if (usable)
		return;
	snprintf(part->reason, sizeof part->reason, "%s", why->reason);
	snprintf(part->fix, sizeof part->fix, "%s", why->fix);
}

static void driver_part(struct gpu_part *part) {
	struct driver driver;
	struct library_why why;
	bool usable = driver_open(&driver, &why);
	part_fill(part, usable, &driver.library, &why);
	if (!usable)
		return;
	snprintf(part->version, sizeof part->version, "%d.%d", driver.version / 1000, driver.version % 1000 / 10);
	driver_close(&driver);
}

static void nvrtc_part(struct gpu_part *part) {
	struct nvrtc nvrtc;
	struct library_why why;
	bool usable = nvrtc_open(&nvrtc, 0, &why);
	part_fill(part, usable, &nvrtc.library, &why);
	if (!usable)
		return;
	snprintf(part->version, sizeof part->version, "%d.%d", nvrtc.major, nvrtc.minor);
	nvrtc_close(&nvrtc);
}

/* 130001 is CUDA 13.0, update 1. */
static void cupti_part(struct gpu_part *part) {
	struct library library;
	struct library_why why;
	unsigned version = 0;
	bool usable = cupti_find(&library, &version, &why);
	part_fill(part, usable, &library, &why);
	if (usable && version >= 100000)
		snprintf(part->version, sizeof part->version, "%u.%u", version / 10000, version / 100 % 100);
	else if (usable)
		snprintf(part->version, sizeof part->version, "%u", version);
}

static void nvml_part(struct gpu_part *part) {
	struct nvml nvml;
	struct library_why why;
	bool usable = nvml_open(&nvml, &why);
	part_fill(part, usable, &nvml.library, &why);
	if (!usable)
		return;
	if (!nvml.version || nvml.version(part->version, sizeof part->version) != NVML_FINE)
		snprintf(part->version, sizeof part->version, "?");
	nvml_close(&nvml);
}

void gpu_parts(struct gpu_part parts[GPU_PARTS]) {
	static const struct {
		const char *name;
		void (*look)(struct gpu_part *part);
	} all[GPU_PARTS] = {{"driver", driver_part}, {"NVRTC", nvrtc_part}, {"CUPTI", cupti_part}, {"NVML", nvml_part}};
	for (int i = 0; i < GPU_PARTS; i++) {
		parts[i] = (struct gpu_part){.name = all[i].name};
		all[i].look(&parts[i]);
	}
}
