/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libcupti for tests: programs tell it what "the GPU" has done (fake_*), and it hands out records as CUPTI does. The
 * functions of the host API, which only the worker looks for, refuse everything. */
#include <cuda.h>
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1 << 16, EACH = 512 };

static struct {
	CUpti_BuffersCallbackRequestFunc give;
	CUpti_BuffersCallbackCompleteFunc completed;
	uint8_t records[RECORDS][EACH];
	size_t count, dropped;
	CUpti_CallbackFunc back;
	void *ctx;
	size_t ranges, starts, metrics, room, stolen;
	const char *launched;
	cuLaunchKernel_params parameters;
	pthread_mutex_t lock; /* a record is complete before it is handed out */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define REFUSED(name) __attribute__((visibility("default"))) __typeof__(name) name __attribute__((alias("refused")));
__attribute__((used)) static CUptiResult refused(void) {
	return CUPTI_ERROR_NOT_SUPPORTED;
}
#ifndef __clang__ /* which does not know it */
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
REFUSED(cuptiProfilerHostDeinitialize)
REFUSED(cuptiProfilerHostGetSubMetrics)
REFUSED(cuptiRangeProfilerDisable)
REFUSED(cuptiRangeProfilerPushRange)
REFUSED(cuptiRangeProfilerPopRange)
REFUSED(cuptiRangeProfilerCounterDataGetRangeInfo)
REFUSED(cuptiSassMetricsGetProperties)
REFUSED(cuptiSassMetricsSetConfig)
REFUSED(cuptiSassMetricsEnable)
REFUSED(cuptiSassMetricsGetDataProperties)
REFUSED(cuptiSassMetricsFlushData)
REFUSED(cuptiSassMetricsDisable)
REFUSED(cuptiSassMetricsUnsetConfig)
REFUSED(cuptiGetCubinCrc)
REFUSED(cuptiGetSassToSourceCorrelation)

CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
	*text = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "privileges" : "fake failure";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version) {
	*version = 130000;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *now) {
	*now = 1000;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc back, void *ctx) {
	if (getenv("FAKE_REFUSES"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	*handle = NULL;
	fake.back = back;
	fake.ctx = ctx;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
	(void)on, (void)handle, (void)domain, (void)id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
	if (getenv("FAKE_REFUSES"))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	fake.give = give;
	fake.completed = completed;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
	(void)kind;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
	(void)kind;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushPeriod(uint32_t ms) {
	(void)ms;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped) {
	(void)context, (void)stream;
	*dropped = fake.dropped;
	fake.dropped = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record) {
	uint8_t *next = *record ? (uint8_t *)*record + EACH : buffer;
	*record = (CUpti_Activity *)next;
	return next + EACH <= buffer + valid ? CUPTI_SUCCESS : CUPTI_ERROR_MAX_LIMIT_REACHED;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
	(void)flag;
	pthread_mutex_lock(&fake.lock);
	for (size_t from = 0, some; from < fake.count; from += some) {
		uint8_t *buffer;
		size_t size, most;
		fake.give(&buffer, &size, &most);
		some = size / EACH < fake.count - from ? size / EACH : fake.count - from;
		if (some == 0) { /* no memory */
			fake.dropped += fake.count - from;
			break;
		}
		memcpy(buffer, fake.records[from], some * EACH);
		fake.completed(NULL, 0, buffer, size, some * EACH);
	}
	fake.count = 0;
	pthread_mutex_unlock(&fake.lock);
	return CUPTI_SUCCESS;
}

/* ---- the range profiler ---- */
#define FINE(name, type, ...)                                                                                          \
	CUptiResult name(type *params) {                                                                                   \
		(void)params;                                                                                                  \
		__VA_ARGS__;                                                                                                   \
		return CUPTI_SUCCESS;                                                                                          \
	}
FINE(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)
FINE(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params, params->pChipName = "FAKE1")
FINE(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params, params->pHostObject = (void *)&fake)
FINE(cuptiProfilerHostGetSupportedChips, CUpti_Profiler_Host_GetSupportedChips_Params,
     static const char *const chips[] = {"FAKE1"};
     params->numChips = 1; params->ppChipNames = chips)
FINE(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics_Params, params->numMetrics = 0)
FINE(cuptiProfilerHostGetMetricProperties, CUpti_Profiler_Host_GetMetricProperties_Params,
     params->metricType = CUPTI_METRIC_TYPE_COUNTER)
FINE(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, fake.metrics = params->numMetrics)
FINE(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params, params->configImageSize = 64)
FINE(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)
FINE(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses_Params, params->numOfPasses = 3)
FINE(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params,
     params->counterDataSize = params->maxNumOfRanges * (getenv("FAKE_LARGE") ? 2000000 : 1000);
     fake.room = params->maxNumOfRanges)
FINE(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
FINE(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)
FINE(cuptiRangeProfilerGetCounterDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     params->numTotalRanges = fake.ranges - fake.stolen)

FINE(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params,
     params->counterAvailabilityImageSize = 8)

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params) {
	fake.ranges = fake.starts = 0;
	params->pRangeProfilerObject = (void *)&fake;
	return getenv("FAKE_DENIES") ? CUPTI_ERROR_INSUFFICIENT_PRIVILEGES : CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params) {
	bool good = params->range == CUPTI_AutoRange && params->replayMode == CUPTI_KernelReplay &&
	            params->maxRangesPerPass == fake.room;
	return good ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params) {
	(void)params;
	return fake.starts++ == fake.ranges && !fake.launched ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params) {
	bool good = fake.starts == fake.ranges + 1 && (fake.launched || !fake.back) && fake.ranges < fake.room;
	params->isAllPassSubmitted = 1;
	fake.ranges++;
	fake.launched = NULL;
	return good ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

/* The value of metric m in range i is 100 i + m. */
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params) {
	for (size_t m = 0; m < params->numMetrics; m++)
		params->pMetricValues[m] = 100 * (double)params->rangeIndex + (double)m;
	return params->numMetrics == fake.metrics ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* ---- for programs ---- */
static void call(CUpti_CallbackId id, const char *name, bool enters) {
	CUpti_CallbackData data = {.callbackSite = enters ? CUPTI_API_ENTER : CUPTI_API_EXIT,
	                           .symbolName = name,
	                           .functionParams = &fake.parameters,
	                           .context = (CUcontext)(uintptr_t)1};
	if (fake.back)
		fake.back(fake.ctx, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
}

__attribute__((visibility("default"))) void fake_launch(const char *name, unsigned blocks);
void fake_launch(const char *name, unsigned blocks) {
	fake.parameters = (cuLaunchKernel_params){
		.gridDimX = blocks, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1};
	call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name, true);
	fake.launched = fake.starts > fake.ranges ? name : NULL;
	call(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, name, false);
}

__attribute__((visibility("default"))) void fake_capture(int begins);
void fake_capture(int begins) {
	CUpti_CallbackId id =
		begins ? CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2 : CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture;
	call(id, NULL, true);
	call(id, NULL, false);
}

__attribute__((visibility("default"))) void fake_destroy(void);
void fake_destroy(void) {
	const CUpti_ResourceData data = {.context = (CUcontext)(uintptr_t)1};
	if (fake.back)
		fake.back(fake.ctx, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
}

/* A range is missing from then on. */
__attribute__((visibility("default"))) void fake_steal(void);
void fake_steal(void) {
	fake.stolen = 1;
}

static void *record_new(CUpti_ActivityKind kind) {
	pthread_mutex_lock(&fake.lock);
	CUpti_Activity *record = (CUpti_Activity *)fake.records[fake.count < RECORDS - 1 ? fake.count++ : fake.count];
	memset(record, 0, EACH);
	record->kind = kind;
	return record;
}

__attribute__((visibility("default"))) void fake_kernel(const char *name, uint64_t start, uint64_t ns, int grid,
                                                        int block);
void fake_kernel(const char *name, uint64_t start, uint64_t ns, int grid, int block) {
	CUpti_ActivityKernel4 *kernel = record_new(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	kernel->name = name;
	kernel->start = start;
	kernel->end = start + ns;
	kernel->gridX = grid;
	kernel->blockX = block;
	kernel->gridY = kernel->gridZ = kernel->blockY = kernel->blockZ = 1;
	kernel->registersPerThread = 32;
	kernel->staticSharedMemory = 1024;
	pthread_mutex_unlock(&fake.lock);
}

__attribute__((visibility("default"))) void fake_copy(int way, int pinned, uint64_t start, uint64_t ns, uint64_t bytes);
void fake_copy(int way, int pinned, uint64_t start, uint64_t ns, uint64_t bytes) {
	CUpti_ActivityMemcpy6 *copy = record_new(CUPTI_ACTIVITY_KIND_MEMCPY);
	copy->copyKind = (uint8_t)way;
	copy->srcKind = pinned ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	copy->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	copy->start = start;
	copy->end = start + ns;
	copy->bytes = bytes;
	pthread_mutex_unlock(&fake.lock);
}

__attribute__((visibility("default"))) void fake_set(uint64_t start, uint64_t ns, uint64_t bytes);
void fake_set(uint64_t start, uint64_t ns, uint64_t bytes) {
	CUpti_ActivityMemset4 *set = record_new(CUPTI_ACTIVITY_KIND_MEMSET);
	set->start = start;
	set->end = start + ns;
	set->bytes = bytes;
	pthread_mutex_unlock(&fake.lock);
}

__attribute__((visibility("default"))) void fake_device(const char *name);
void fake_device(const char *name) {
	CUpti_ActivityDevice5 *device = record_new(CUPTI_ACTIVITY_KIND_DEVICE);
	device->name = name;
	device->computeCapabilityMajor = 9;
	device->numMultiprocessors = 132;
	device->maxWarpsPerMultiprocessor = 64;
	device->maxBlocksPerMultiprocessor = 32;
	device->maxSharedMemoryPerMultiprocessor = 233472;
	device->maxSharedMemoryPerBlock = 49152;
	device->maxRegistersPerMultiprocessor = device->maxRegistersPerBlock = 65536;
	device->maxThreadsPerBlock = 1024;
	pthread_mutex_unlock(&fake.lock);
}

__attribute__((visibility("default"))) void fake_drop(size_t count);
void fake_drop(size_t count) {
	fake.dropped += count;
}

/* Whether all records have been handed out. */
__attribute__((visibility("default"))) int fake_is_flushed(void);
int fake_is_flushed(void) {
	pthread_mutex_lock(&fake.lock);
	bool flushed = fake.count == 0;
	pthread_mutex_unlock(&fake.lock);
	return flushed;
}
