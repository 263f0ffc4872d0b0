/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/cupti/cupti.h"
#include "gpu/open.h"

struct cupti_chip *cupti_site_chip(const struct counter_site *site, char reason[COUNTER_REASON]) {
	const struct gpu_facts *device = site->gpu ? gpu_facts(site->gpu) : site->device;
	if (!device || device->kind != GPU_CUDA) {
		snprintf(reason, COUNTER_REASON, "it counts on a GPU, but this does not run on one (--device cuda)");
		return NULL;
	}
	return cupti_denied(reason) ? NULL : cupti_chip_here(device->index, reason);
}

bool cupti_site_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct cupti_chip *chip = cupti_site_chip(site, reason);
	return chip && cupti_chip_has(chip, event, reason);
}
