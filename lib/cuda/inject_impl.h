/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot-cuda, which the CUDA driver loads when a program initialises it (CUDA_INJECTION64_PATH). Only the
 * C library is linked; CUPTI is opened.
 *
 * SWEETSPOT_CUDA_RECORD=PREFIX: each process that uses CUDA leaves PREFIX.HOST.PID (format.h).
 * SWEETSPOT_CUDA_CUPTI=FILE: the libcupti to open. SWEETSPOT_CUDA_METRICS=NAME,..: kernels are counted, and not timed.
 * Nothing is ever written to stdout or stderr, which belong to the program; failures go to the record. */
#ifndef LIB_CUDA_INJECT_IMPL_H
#define LIB_CUDA_INJECT_IMPL_H
#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/cuda/format.h"

#define INJECT_FUNCTIONS(X)                                                                                            \
	X(cuptiGetResultString)                                                                                            \
	X(cuptiGetVersion)                                                                                                 \
	X(cuptiGetTimestamp)                                                                                               \
	X(cuptiActivityRegisterCallbacks)                                                                                  \
	X(cuptiActivityEnable)                                                                                             \
	X(cuptiActivityFlushAll)                                                                                           \
	X(cuptiActivityGetNextRecord)                                                                                      \
	X(cuptiActivityGetNumDroppedRecords)                                                                               \
	X(cuptiSubscribe)                                                                                                  \
	X(cuptiEnableCallback)                                                                                             \
	X(cuptiProfilerInitialize)                                                                                         \
	X(cuptiRangeProfilerEnable)                                                                                        \
	X(cuptiRangeProfilerDisable)                                                                                       \
	X(cuptiRangeProfilerGetCounterDataSize)                                                                            \
	X(cuptiRangeProfilerCounterDataImageInitialize)                                                                    \
	X(cuptiRangeProfilerSetConfig)                                                                                     \
	X(cuptiRangeProfilerStart)                                                                                         \
	X(cuptiRangeProfilerStop)                                                                                          \
	X(cuptiRangeProfilerDecodeData)                                                                                    \
	X(cuptiRangeProfilerGetCounterDataInfo)                                                                            \
	X(cuptiDeviceGetChipName)                                                                                          \
	X(cuptiProfilerHostInitialize)                                                                                     \
	X(cuptiProfilerHostConfigAddMetrics)                                                                               \
	X(cuptiProfilerHostGetConfigImageSize)                                                                             \
	X(cuptiProfilerHostGetConfigImage)                                                                                 \
	X(cuptiProfilerHostGetNumOfPasses)                                                                                 \
	X(cuptiProfilerHostEvaluateToGpuValues)

struct inject_cupti {
#define INJECT_MEMBER(name) __typeof__(&name) name;
	INJECT_FUNCTIONS(INJECT_MEMBER)
#undef INJECT_MEMBER
};

/* Around what runs in threads of the program: one that is cancelled in here would keep a lock. */
struct inject_guard {
	int error, cancel;
};
struct inject_guard inject_guard_begin(void);
void inject_guard_end(struct inject_guard guard);

/* NULL: it cannot be opened; the record says why. */
const struct inject_cupti *inject_cupti(struct cuda_record *record);
/* True for success. Otherwise the record keeps the first failure. */
bool inject_fine(const struct inject_cupti *cupti, struct cuda_record *record, CUptiResult result, const char *what);

/* Room for what is at that place in the record. */
bool inject_reserve(const struct cuda_record *record, const void *at, size_t size);
__attribute__((format(printf, 2, 3))) void inject_fail(struct cuda_record *record, const char *format, ...);
/* The function of that symbol; it is added. NULL: there are too many. */
struct cuda_function *inject_function(struct cuda_record *record, const char *symbol);

bool inject_activity_start(const struct inject_cupti *cupti, struct cuda_record *record);
void inject_activity_end(void);

/* metrics: names with commas between them. */
bool inject_count_start(const struct inject_cupti *cupti, struct cuda_record *record, const char *metrics);
void inject_count_end(void);

/* ---- CUPTI's range profiler on one context ---- */
struct inject_ranges;
#endif
