/* SPDX-License-Identifier: BSD-3-Clause */
/* The internals of a chip, for chip.c and list.c. */
#ifndef COUNTERS_CUPTI_CHIP_H
#define COUNTERS_CUPTI_CHIP_H
#include "counters/cupti/cupti.h"
#include "counters/cupti/library.h"

enum { CUPTI_TYPES = CUPTI_METRIC_TYPE__COUNT };

struct cupti_chip {
	struct cupti_chip *next;
	char name[24];
	CUpti_Profiler_Host_Object *host;
	const char **metrics[CUPTI_TYPES]; /* without rollups: counters, ratios, throughputs */
	size_t counts[CUPTI_TYPES];
};

struct cupti_properties {
	CUpti_MetricType type;
	const char *unit, *hardware, *summary;
};
/* False if the chip does not have this metric, with or without a rollup. */
bool cupti_chip_properties(const struct cupti_chip *chip, const char *metric, struct cupti_properties *properties);
/* Returns the rollups of a metric (".sum", ".avg.per_second", ..) and their number in *count, 0 if the metric is
 * unknown. */
const char *const *cupti_chip_rollups(const struct cupti_chip *chip, const char *metric, CUpti_MetricType type,
                                      size_t *count);
/* Returns the chip's metric with the nearest name, rollups aside; NULL if none is near. */
const char *cupti_chip_near(const struct cupti_chip *chip, const char *base);
/* "GB10B GB202 ..", NULL on failure; the caller frees it. */
char *cupti_chips_text(void);

#endif
