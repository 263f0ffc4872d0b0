/* SPDX-License-Identifier: BSD-3-Clause */
/* The internals of a chip, for chip.c. */
#ifndef COUNTERS_CUPTI_CUPTI_IMPL_H
#define COUNTERS_CUPTI_CUPTI_IMPL_H
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_result.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include "counters/cupti/cupti.h"

/* libcupti is opened on first use and kept until the process ends. CUDA 13.0's cupti_profiler_host.h includes <string>
 * even in C, so counters/compat provides an empty one. */

#define CUPTI_FUNCTIONS(X)                                                                                             \
	X(cuptiGetResultString)                                                                                            \
	X(cuptiGetVersion)                                                                                                 \
	X(cuptiProfilerHostInitialize)                                                                                     \
	X(cuptiProfilerHostDeinitialize)                                                                                   \
	X(cuptiProfilerHostGetSupportedChips)                                                                              \
	X(cuptiProfilerHostGetBaseMetrics)                                                                                 \
	X(cuptiProfilerHostGetSubMetrics)                                                                                  \
	X(cuptiProfilerHostGetMetricProperties)                                                                            \
	X(cuptiProfilerHostConfigAddMetrics)                                                                               \
	X(cuptiProfilerHostGetConfigImageSize)                                                                             \
	X(cuptiProfilerHostGetConfigImage)                                                                                 \
	X(cuptiProfilerHostGetNumOfPasses)                                                                                 \
	X(cuptiProfilerHostEvaluateToGpuValues)                                                                            \
	X(cuptiProfilerInitialize)                                                                                         \
	X(cuptiProfilerGetCounterAvailability)                                                                             \
	X(cuptiDeviceGetChipName)                                                                                          \
	X(cuptiRangeProfilerEnable)                                                                                        \
	X(cuptiRangeProfilerDisable)                                                                                       \
	X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
	X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
	X(cuptiRangeProfilerSetConfig)                                                                                     \
	X(cuptiRangeProfilerStart)                                                                                         \
	X(cuptiRangeProfilerPushRange)                                                                                     \
	X(cuptiRangeProfilerPopRange)                                                                                      \
	X(cuptiRangeProfilerStop)                                                                                          \
	X(cuptiRangeProfilerDecodeData)                                                                                    \
	X(cuptiRangeProfilerGetCounterDataInfo)                                                                            \
	X(cuptiActivityRegisterCallbacks)                                                                                  \
	X(cuptiActivityEnable)                                                                                             \
	X(cuptiActivityDisable)                                                                                            \
	X(cuptiActivityFlushAll)                                                                                           \
	X(cuptiActivityGetNextRecord)                                                                                      \
	X(cuptiActivityGetNumDroppedRecords)                                                                               \
	X(cuptiSassMetricsGetProperties)                                                                                   \
	X(cuptiSassMetricsSetConfig)                                                                                       \
	X(cuptiSassMetricsEnable)                                                                                          \
	X(cuptiSassMetricsGetDataProperties)                                                                               \
	X(cuptiSassMetricsFlushData)                                                                                       \
	X(cuptiSassMetricsDisable)                                                                                         \
	X(cuptiSassMetricsUnsetConfig)                                                                                     \
	X(cuptiGetCubinCrc)                                                                                                \
	X(cuptiGetSassToSourceCorrelation)

struct cupti_library {
#define CUPTI_MEMBER(name) __typeof__(&name) name;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
};

/* NULL and the reason on failure. */
const struct cupti_library *cupti_library(char reason[COUNTER_REASON]);
/* True for success. Otherwise the reason says what failed and why; a missing permission comes with its remedy, which is
 * kept for cupti_denied, too. */
bool cupti_fine(CUptiResult result, const char *what, char reason[COUNTER_REASON]);
/* Declares a parameter block, which every function of CUPTI's profilers takes. */
#define CUPTI_PARAMS(type, name, ...) type##_Params name = {.structSize = type##_Params_STRUCT_SIZE, __VA_ARGS__}

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

/* The host API's plan of how to count metrics: the passes, and the counters of each. */

struct cupti_config {
	CUpti_Profiler_Host_Object *host; /* NULL: none */
	uint8_t *image;
	size_t size, passes;
};

/* availability: of a device, NULL for the chip in general. False with the reason; clear it in any case. */
bool cupti_config_make(struct cupti_config *config, const char *chip, const uint8_t *availability,
                       const char *const *metrics, size_t count, char reason[COUNTER_REASON]);
void cupti_config_clear(struct cupti_config *config);
#endif
