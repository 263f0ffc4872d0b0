/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the launches that are counted: of each function and size the first, the second, the fourth and so on, because
 * each of them costs milliseconds. Sizes are told apart because a function that is launched in turn on a narrow strip
 * and on the rest would else be judged by its strips. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/inject_impl.h"

/* CUPTI's range profiler, with a range for each launch and the replay of kernels: "Range Profiling API" in CUPTI's
 * documentation, AutoRange and KernelReplay. It is started and stopped around each launch that is counted, so that all
 * others run undisturbed. */
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

static struct count *count(void);

/* NULL: the record says why. */
static struct inject_ranges *inject_ranges_new(const struct inject_cupti *cupti, struct cuda_record *record,
                                               CUcontext context, const char *const *metrics, size_t count) {
	struct inject_ranges *r = malloc(sizeof *r);
	if (!r)
		return NULL;
	*r = (struct inject_ranges){.cupti = cupti, .record = record, .metrics = (const char **)metrics, .count = count};
	if (config_make(r) && profiler_enable(r, context))
		return r;
	ranges_free(r);
	return NULL;
}

/* Around one launch, which is run as often as there are passes, on memory that is put back in between. */
static bool inject_ranges_begin(struct inject_ranges *r) {
	PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = r->profiler);
	return FINE(r, cuptiRangeProfilerStart(&start), "to start counting");
}

static bool inject_ranges_end(struct inject_ranges *r) {
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

/* Fills in the values of the record's ranges, and ends. */
static void inject_ranges_settle(struct inject_ranges *r) {
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

enum { LAUNCHES_EACH = 8 };

struct count {
	/* Held from the begin to the end of a launch that is counted, in one thread. */
	pthread_mutex_t lock;
	const struct inject_cupti *cupti;
	struct cuda_record *record;
	struct inject_ranges *ranges; /* NULL: not begun, or ended */
	CUcontext context;            /* the first one that launched; others are not counted */
	const char *metrics[CUDA_METRICS];
	size_t metric_count;
	int cancel;        /* what the thread inside had, which must not be cancelled before the end */
	unsigned captures; /* streams that record a graph now: whatever waits would spoil it */
	bool inside, ended;
};

static struct count *count(void) {
	static struct count only;
	return &only;
}

/* The last thing that happens with the context. */
static void settle(struct count *all) {
	if (all->ranges)
		inject_ranges_settle(all->ranges);
	all->ranges = NULL;
	all->ended = true;
}

/* All these calls have parameters that begin like those of cuLaunchKernel, apart from cuLaunchKernelEx. */
static uint32_t launch_size(CUpti_CallbackId id, const void *parameters) {
	const cuLaunchKernel_params *plain = parameters;
	double threads = 1;
	if (!parameters)
		return 0;
	if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx || id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz) {
		const CUlaunchConfig *config = ((const cuLaunchKernelEx_params *)parameters)->config;
		threads = (double)config->gridDimX * config->gridDimY * config->gridDimZ * config->blockDimX *
		          config->blockDimY * config->blockDimZ;
	} else {
		threads = (double)plain->gridDimX * plain->gridDimY * plain->gridDimZ * plain->blockDimX * plain->blockDimY *
		          plain->blockDimZ;
	}
	return cuda_launch_size(threads);
}

static bool is_wanted(const struct count *all, const struct cuda_function *function, uint32_t size) {
	uint64_t n = function->launched[size];
	bool room = !all->ranges || all->record->range_count < all->record->range_room;
	return !all->ended && all->captures == 0 && room && function->counted[size] < LAUNCHES_EACH && (n & (n - 1)) == 0;
}

static bool is_open(struct count *all, CUcontext context) {
	if (!all->context) {
		all->context = context;
		all->ranges = inject_ranges_new(all->cupti, all->record, context, all->metrics, all->metric_count);
	}
	return all->ranges && all->context == context;
}

static void launch_begin(struct count *all, CUpti_CallbackId id, const CUpti_CallbackData *data, int *cancel) {
	struct cuda_record *record = all->record;
	uint32_t size = launch_size(id, data->functionParams);
	pthread_mutex_lock(&all->lock);
	struct cuda_function *function = inject_function(record, data->symbolName ? data->symbolName : "(unknown)");
	if (function)
		function->launched[size]++;
	if (function && is_wanted(all, function, size) &&
	    inject_reserve(record, &record->ranges[record->range_count], sizeof *record->ranges) &&
	    is_open(all, data->context) && inject_ranges_begin(all->ranges)) {
		struct cuda_range *range = &record->ranges[record->range_count];
		*range = (struct cuda_range){.function = (uint32_t)(function - record->functions),
		                             .launch = function->launched[size],
		                             .launch_size = size};
		function->counted[size]++;
		all->inside = true;
		all->cancel = *cancel;
		*cancel = PTHREAD_CANCEL_DISABLE;
		return;
	}
	pthread_mutex_unlock(&all->lock);
}

static bool has(const CUpti_CallbackId *list, size_t size, CUpti_CallbackId id);

/* Only the thread that is inside can see that it is. */
static void launch_end(struct count *all, int *cancel) {
	pthread_mutex_lock(&all->lock);
	if (all->inside) {
		all->inside = false;
		*cancel = all->cancel;
		if (inject_ranges_end(all->ranges))
			all->record->range_count++;
		else
			settle(all);
		pthread_mutex_unlock(&all->lock);
	}
	pthread_mutex_unlock(&all->lock);
}

static const CUpti_CallbackId launches[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                            CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz};
static const CUpti_CallbackId begins[] = {
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,        CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,     CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
static const CUpti_CallbackId ends[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                        CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};

#define HAS(list, id) has(list, sizeof(list) / sizeof *(list), id)
static bool has(const CUpti_CallbackId *list, size_t size, CUpti_CallbackId id) {
	size_t i = 0;
	while (i < size && list[i] != id)
		i++;
	return i < size;
}

static void capture(struct count *all, int change) {
	pthread_mutex_lock(&all->lock);
	all->captures += change > 0 ? 1U : all->captures > 0 ? -1U : 0U;
	pthread_mutex_unlock(&all->lock);
}

static void called(struct count *all, CUpti_CallbackId id, const CUpti_CallbackData *data, int *cancel) {
	bool enters = data->callbackSite == CUPTI_API_ENTER;
	if (HAS(launches, id) && enters)
		launch_begin(all, id, data, cancel);
	else if (HAS(launches, id))
		launch_end(all, cancel);
	else if (HAS(begins, id) && enters)
		capture(all, 1);
	else if (HAS(ends, id) && !enters)
		capture(all, -1);
}

static void CUPTIAPI callback(void *ctx, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
	struct count *all = ctx;
	struct inject_guard guard = inject_guard_begin();
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		called(all, id, data, &guard.cancel);
	} else if (domain == CUPTI_CB_DOMAIN_RESOURCE && ((const CUpti_ResourceData *)data)->context == all->context) {
		pthread_mutex_lock(&all->lock);
		settle(all);
		pthread_mutex_unlock(&all->lock);
	}
	inject_guard_end(guard);
}

#define ENABLE(list) enable(all, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, list, sizeof(list) / sizeof *(list))
static bool enable(struct count *all, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                   const CUpti_CallbackId *list, size_t size) {
	bool fine = true;
	for (size_t i = 0; i < size && fine; i++)
		fine = inject_fine(all->cupti, all->record, all->cupti->cuptiEnableCallback(1, subscriber, domain, list[i]),
		                   "to watch launches");
	return fine;
}

static void metrics_split(struct count *all, const char *metrics) {
	char *text = strdup(metrics), *rest = text;
	for (char *name; text && all->metric_count < CUDA_METRICS && (name = strsep(&rest, ","));)
		all->metrics[all->metric_count++] = name;
	all->record->metric_count = (uint32_t)all->metric_count;
}

bool inject_count_start(const struct inject_cupti *cupti, struct cuda_record *record, const char *metrics) {
	static const CUpti_CallbackId last[] = {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING};
	struct count *all = count();
	CUpti_SubscriberHandle subscriber;
	pthread_mutexattr_t attributes;
	all->cupti = cupti;
	all->record = record;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&all->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	metrics_split(all, metrics);
	return inject_fine(cupti, record, cupti->cuptiSubscribe(&subscriber, callback, all), "to watch launches") &&
	       ENABLE(launches) && ENABLE(begins) && ENABLE(ends) &&
	       enable(all, subscriber, CUPTI_CB_DOMAIN_RESOURCE, last, 1);
}

void inject_count_end(void) {
	struct count *all = count();
	pthread_mutex_lock(&all->lock);
	settle(all);
	pthread_mutex_unlock(&all->lock);
}
