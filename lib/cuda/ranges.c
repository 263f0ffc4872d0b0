/* SPDX-License-Identifier: BSD-3-Clause */
/* CUPTI's range profiler, with a range for each launch and the replay of kernels: "Range Profiling API" in CUPTI's
 * documentation, AutoRange and KernelReplay. It is started and stopped around each launch that is counted, so that all
 * others run undisturbed. */
#include <math.h>
#include <stdlib.h>

#include "lib/cuda/inject.h"

/* A range takes 70 KB of CUPTI's memory with the metrics of one pass, 1 MB with those of eleven. */
enum { DATA_BYTES_MAX = 256 << 20 };

#define PARAMS(type, name, ...) type##_Params name = {.structSize = type##_Params_STRUCT_SIZE, __VA_ARGS__}

struct inject_ranges {
	const struct inject_cupti *cupti;
	struct cuda_record *record;
	const char **metrics;
	size_t count;
	CUpti_Profiler_Host_Object *host;
	CUpti_RangeProfiler_Object *profiler;
	uint8_t *config, *data;
	size_t config_size, data_size;
};

#define FINE(ranges, call, what) inject_fine((ranges)->cupti, (ranges)->record, (ranges)->cupti->call, what)

static bool config_make(struct inject_ranges *r) {
	PARAMS(CUpti_Profiler_Initialize, begin, .pPriv = NULL);
	PARAMS(CUpti_Device_GetChipName, chip, .deviceIndex = 0);
	if (!FINE(r, cuptiProfilerInitialize(&begin), "the profiler") ||
	    !FINE(r, cuptiDeviceGetChipName(&chip), "the chip of the device"))
		return false;
	PARAMS(CUpti_Profiler_Host_Initialize, host, .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
	       .pChipName = chip.pChipName);
	if (!FINE(r, cuptiProfilerHostInitialize(&host), "the chip"))
		return false;
	r->host = host.pHostObject;
	PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add, .pHostObject = r->host, .ppMetricNames = r->metrics,
	       .numMetrics = r->count);
	PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size, .pHostObject = r->host);
	if (!FINE(r, cuptiProfilerHostConfigAddMetrics(&add), "these metrics") ||
	    !FINE(r, cuptiProfilerHostGetConfigImageSize(&size), "the size of the configuration"))
		return false;
	r->config_size = size.configImageSize;
	r->config = calloc(1, r->config_size + 1);
	PARAMS(CUpti_Profiler_Host_GetConfigImage, get, .pHostObject = r->host, .configImageSize = r->config_size,
	       .pConfigImage = r->config);
	PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes, .configImageSize = r->config_size, .pConfigImage = r->config);
	bool fine = r->config && FINE(r, cuptiProfilerHostGetConfigImage(&get), "the configuration") &&
	            FINE(r, cuptiProfilerHostGetNumOfPasses(&passes), "the number of passes");
	r->record->passes = fine ? (uint32_t)passes.numOfPasses : 0;
	return fine;
}

/* As many ranges as fit into the memory that we allow ourselves. */
static bool data_make(struct inject_ranges *r) {
	uint32_t room = CUDA_RANGES;
	for (;; room /= 2) {
		PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size, .pRangeProfilerObject = r->profiler,
		       .pMetricNames = r->metrics, .numMetrics = r->count, .maxNumOfRanges = room,
		       .maxNumRangeTreeNodes = room);
		if (!FINE(r, cuptiRangeProfilerGetCounterDataSize(&size), "the size of the data"))
			return false;
		r->data_size = size.counterDataSize;
		if (room == 1 || r->data_size <= DATA_BYTES_MAX)
			break;
	}
	r->record->range_room = room;
	r->data = calloc(1, r->data_size + 1);
	PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, data, .pRangeProfilerObject = r->profiler,
	       .counterDataSize = r->data_size, .pCounterData = r->data);
	return r->data && FINE(r, cuptiRangeProfilerCounterDataImageInitialize(&data), "the data");
}

static bool profiler_enable(struct inject_ranges *r, CUcontext context) {
	PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = context);
	if (!FINE(r, cuptiRangeProfilerEnable(&enable), "the range profiler"))
		return false;
	r->profiler = enable.pRangeProfilerObject;
	if (!data_make(r))
		return false;
	PARAMS(CUpti_RangeProfiler_SetConfig, set, .pRangeProfilerObject = r->profiler, .configSize = r->config_size,
	       .pConfig = r->config, .counterDataImageSize = r->data_size, .pCounterDataImage = r->data,
	       .range = CUPTI_AutoRange, .replayMode = CUPTI_KernelReplay, .maxRangesPerPass = r->record->range_room,
	       .numNestingLevels = 1, .minNestingLevel = 1);
	return FINE(r, cuptiRangeProfilerSetConfig(&set), "the configuration of ranges");
}

static void ranges_free(struct inject_ranges *r) {
	PARAMS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = r->profiler);
	if (r->profiler)
		r->cupti->cuptiRangeProfilerDisable(&disable);
	free(r->config);
	free(r->data);
	free(r);
}

struct inject_ranges *inject_ranges_new(const struct inject_cupti *cupti, struct cuda_record *record, CUcontext context,
                                        const char *const *metrics, size_t count) {
	struct inject_ranges *r = malloc(sizeof *r);
	if (!r)
		return NULL;
	*r = (struct inject_ranges){.cupti = cupti, .record = record, .metrics = (const char **)metrics, .count = count};
	if (config_make(r) && profiler_enable(r, context))
		return r;
	ranges_free(r);
	return NULL;
}

bool inject_ranges_begin(struct inject_ranges *r) {
	PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = r->profiler);
	return FINE(r, cuptiRangeProfilerStart(&start), "to start counting");
}

bool inject_ranges_end(struct inject_ranges *r) {
	PARAMS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = r->profiler);
	return FINE(r, cuptiRangeProfilerStop(&stop), "to stop counting");
}

static void range_settle(struct inject_ranges *r, size_t i) {
	struct cuda_range *range = &r->record->ranges[i];
	for (size_t m = 0; m < CUDA_METRICS; m++)
		range->values[m] = NAN;
	PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, get, .pHostObject = r->host, .pCounterDataImage = r->data,
	       .counterDataImageSize = r->data_size, .rangeIndex = i, .ppMetricNames = r->metrics, .numMetrics = r->count,
	       .pMetricValues = range->values);
	range->settled = FINE(r, cuptiProfilerHostEvaluateToGpuValues(&get), "the values");
}

void inject_ranges_settle(struct inject_ranges *r) {
	PARAMS(CUpti_RangeProfiler_DecodeData, decode, .pRangeProfilerObject = r->profiler);
	PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info, .pCounterDataImage = r->data,
	       .counterDataImageSize = r->data_size);
	struct cuda_record *record = r->record;
	if (FINE(r, cuptiRangeProfilerDecodeData(&decode), "to decode the counts") &&
	    FINE(r, cuptiRangeProfilerGetCounterDataInfo(&info), "the decoded counts")) {
		/* Which launch a range belongs to is only known if none is missing. */
		if (info.numTotalRanges != record->range_count)
			inject_fail(record, "CUPTI counted %zu launches instead of %u", info.numTotalRanges, record->range_count);
		else
			for (size_t i = 0; i < record->range_count; i++)
				range_settle(r, i);
	}
	ranges_free(r);
}
