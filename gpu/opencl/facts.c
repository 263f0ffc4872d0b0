/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/opencl/library.h"
#include "src/base/text.h"

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

void opencl_facts(const struct opencl_list *list, size_t at, struct gpu_facts *facts) {
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

size_t opencl_find(const struct opencl_list *list, const char *word) {
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
