/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/cupti/config.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

CUpti_Profiler_Host_Object *cupti_host_new(const char *chip, const uint8_t *availability, char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_Initialize, host, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
	             .pChipName = chip, .pCounterAvailabilityImage = availability);
	if (!cupti || !cupti_fine(cupti->cuptiProfilerHostInitialize(&host), chip, reason))
		return NULL;
	return host.pHostObject;
}

void cupti_host_free(CUpti_Profiler_Host_Object *host) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize, end, .pHostObject = host);
	if (cupti && host)
		cupti->cuptiProfilerHostDeinitialize(&end);
}

static bool image_make(const struct cupti_library *cupti, struct cupti_config *config, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size, .pHostObject = config->host);
	if (!cupti_fine(cupti->cuptiProfilerHostGetConfigImageSize(&size), "the size of the configuration", reason))
		return false;
	config->size = size.configImageSize;
	config->image = mem_alloc(config->size + 1, 1);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage, get, .pHostObject = config->host, .configImageSize = config->size,
	             .pConfigImage = config->image);
	CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes, .configImageSize = config->size,
	             .pConfigImage = config->image);
	if (!cupti_fine(cupti->cuptiProfilerHostGetConfigImage(&get), "the configuration", reason) ||
	    !cupti_fine(cupti->cuptiProfilerHostGetNumOfPasses(&passes), "the number of passes", reason))
		return false;
	config->passes = passes.numOfPasses;
	return true;
}

bool cupti_config_make(struct cupti_config *config, const char *chip, const uint8_t *availability,
                       const char *const *metrics, size_t count, char reason[COUNTER_REASON]) {
	*config = (struct cupti_config){.host = cupti_host_new(chip, availability, reason)};
	const struct cupti_library *cupti = config->host ? cupti_library(reason) : NULL;
	CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add, .pHostObject = config->host,
	             .ppMetricNames = (const char **)metrics, .numMetrics = count);
	return cupti && cupti_fine(cupti->cuptiProfilerHostConfigAddMetrics(&add), "these metrics", reason) &&
	       image_make(cupti, config, reason);
}

void cupti_config_clear(struct cupti_config *config) {
	cupti_host_free(config->host);
	free(config->image);
	*config = (struct cupti_config){.host = NULL};
}
