/* SPDX-License-Identifier: BSD-3-Clause */
/* The host API's plan of how to count metrics: the passes, and the counters of each. */
#ifndef COUNTERS_CUPTI_CONFIG_H
#define COUNTERS_CUPTI_CONFIG_H
#include "counters/cupti/library.h"

struct cupti_config {
	CUpti_Profiler_Host_Object *host; /* NULL: none */
	uint8_t *image;
	size_t size, passes;
};

/* availability: of a device, NULL for the chip in general. False with the reason; clear it in any case. */
bool cupti_config_make(struct cupti_config *config, const char *chip, const uint8_t *availability,
                       const char *const *metrics, size_t count, char reason[COUNTER_REASON]);
void cupti_config_clear(struct cupti_config *config);
/* NULL and the reason. */
CUpti_Profiler_Host_Object *cupti_host_new(const char *chip, const uint8_t *availability, char reason[COUNTER_REASON]);
void cupti_host_free(CUpti_Profiler_Host_Object *host);

#endif
