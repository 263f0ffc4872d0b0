/* SPDX-License-Identifier: BSD-3-Clause */
/* Uses the range profiler in two ways (CUPTI's documentation, "Range Profiling API"). UserRange and UserReplay: the
 * work between begin and end is one range, and the caller repeats it until every pass is done. AutoRange and
 * KernelReplay: each launch is a range, and CUPTI repeats it, with the memory put back in between. */
#include <math.h>
#include <pthread.h>

#include "counters/cupti/cupti_impl.h"
#include "base/mem.h"

/* A launch takes 70 KB of CUPTI's memory with the metrics of one pass, 1 MB with those of eleven. */
enum { RANGES_MOST = 8 /* one is used */, DATA_BYTES_MAX = 256 << 20 };

struct cupti_range {
	const struct cupti_library *cupti;
	CUcontext context;
	const char *const *metrics;
	size_t count, runs, room; /* room: of ranges */
	bool launches;
	struct cupti_config config;
	CUpti_RangeProfiler_Object *profiler; /* NULL: not enabled */
	uint8_t *availability, *data;
	size_t data_size;
	bool submitted; /* every pass is covered */
};

/* Asks which counters this user may read on this device. This is the first call that needs permission. */
static bool availability_read(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_Profiler_Initialize, start, .pPriv = NULL);
	CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability, get, .ctx = range->context);
	if (!cupti_fine(range->cupti->cuptiProfilerInitialize(&start), "the profiler", reason) ||
	    !cupti_fine(range->cupti->cuptiProfilerGetCounterAvailability(&get), "the available counters", reason))
		return false;
	range->availability = mem_alloc(get.counterAvailabilityImageSize + 1, 1);
	get.pCounterAvailabilityImage = range->availability;
	return cupti_fine(range->cupti->cuptiProfilerGetCounterAvailability(&get), "the available counters", reason);
}

/* As many ranges as fit into the memory that we allow ourselves. */
static bool data_size_find(struct cupti_range *range, char reason[COUNTER_REASON]) {
	for (;; range->room /= 2) {
		CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size, .pRangeProfilerObject = range->profiler,
		             .pMetricNames = (const char **)range->metrics, .numMetrics = range->count,
		             .maxNumOfRanges = range->room, .maxNumRangeTreeNodes = (uint32_t)range->room);
		if (!cupti_fine(range->cupti->cuptiRangeProfilerGetCounterDataSize(&size), "the size of the data", reason))
			return false;
		range->data_size = size.counterDataSize;
		if (range->room == 1 || range->data_size <= DATA_BYTES_MAX)
			return true;
	}
}

static bool data_make(struct cupti_range *range, char reason[COUNTER_REASON]) {
	if (!data_size_find(range, reason))
		return false;
	range->data = mem_alloc(range->data_size + 1, 1);
	CUPTI_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, data, .pRangeProfilerObject = range->profiler,
	             .counterDataSize = range->data_size, .pCounterData = range->data);
	return cupti_fine(range->cupti->cuptiRangeProfilerCounterDataImageInitialize(&data), "the data", reason);
}

static bool profiler_enable(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_Enable, enable, .ctx = range->context);
	if (!cupti_fine(range->cupti->cuptiRangeProfilerEnable(&enable), "the range profiler", reason))
		return false;
	range->profiler = enable.pRangeProfilerObject;
	if (!data_make(range, reason))
		return false;
	CUPTI_PARAMS(CUpti_RangeProfiler_SetConfig, set, .pRangeProfilerObject = range->profiler,
	             .configSize = range->config.size, .pConfig = range->config.image,
	             .counterDataImageSize = range->data_size, .pCounterDataImage = range->data,
	             .range = range->launches ? CUPTI_AutoRange : CUPTI_UserRange,
	             .replayMode = range->launches ? CUPTI_KernelReplay : CUPTI_UserReplay, .maxRangesPerPass = range->room,
	             .numNestingLevels = 1, .minNestingLevel = 1, .targetNestingLevel = range->launches ? 0 : 1);
	return cupti_fine(range->cupti->cuptiRangeProfilerSetConfig(&set), "the configuration", reason);
}

static struct cupti_range *range_open(struct cupti_chip *chip, const struct cupti_range *wanted,
                                      char reason[COUNTER_REASON]) {
	struct cupti_range *range = mem_alloc(1, sizeof *range);
	*range = *wanted;
	range->cupti = cupti_library(reason);
	if (range->cupti && availability_read(range, reason) &&
	    cupti_config_make(&range->config, chip->name, range->availability, range->metrics, range->count, reason) &&
	    profiler_enable(range, reason))
		return range;
	cupti_range_free(range);
	return NULL;
}

struct cupti_range *cupti_range_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                    char reason[COUNTER_REASON]) {
	const struct cupti_range wanted = {.context = context, .metrics = metrics, .count = count, .room = RANGES_MOST};
	return range_open(chip, &wanted, reason);
}

struct cupti_range *cupti_launches_new(struct cupti_chip *chip, void *context, const char *const *metrics, size_t count,
                                       size_t most, char reason[COUNTER_REASON]) {
	const struct cupti_range wanted = {
		.context = context, .metrics = metrics, .count = count, .room = most, .launches = true};
	return range_open(chip, &wanted, reason);
}

size_t cupti_launches_room(const struct cupti_range *range) {
	return range->room;
}

bool cupti_launch_begin(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = range->profiler);
	return cupti_fine(range->cupti->cuptiRangeProfilerStart(&start), "to start counting a launch", reason);
}

bool cupti_launch_end(struct cupti_range *range, char reason[COUNTER_REASON]) {
	bool fine = cupti_range_settle(range, reason);
	if (fine && !range->submitted)
		snprintf(reason, COUNTER_REASON, "CUPTI did not repeat a launch as often as it has passes");
	return fine && range->submitted;
}

void cupti_range_free(struct cupti_range *range) {
	if (!range)
		return;
	CUPTI_PARAMS(CUpti_RangeProfiler_Disable, disable, .pRangeProfilerObject = range->profiler);
	if (range->profiler)
		range->cupti->cuptiRangeProfilerDisable(&disable);
	cupti_config_clear(&range->config);
	free(range->availability);
	free(range->data);
	free(range);
}

bool cupti_range_begin(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_Start, start, .pRangeProfilerObject = range->profiler);
	CUPTI_PARAMS(CUpti_RangeProfiler_PushRange, push, .pRangeProfilerObject = range->profiler, .pRangeName = "run");
	return cupti_fine(range->cupti->cuptiRangeProfilerStart(&start), "to start", reason) &&
	       cupti_fine(range->cupti->cuptiRangeProfilerPushRange(&push), "beginning the range", reason);
}

bool cupti_range_end(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_PopRange, pop, .pRangeProfilerObject = range->profiler);
	return cupti_fine(range->cupti->cuptiRangeProfilerPopRange(&pop), "ending the range", reason);
}

bool cupti_range_settle(struct cupti_range *range, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_Stop, stop, .pRangeProfilerObject = range->profiler);
	bool fine = cupti_fine(range->cupti->cuptiRangeProfilerStop(&stop), "to stop", reason);
	range->submitted = stop.isAllPassSubmitted;
	range->runs++;
	return fine;
}

/* One run too many does no harm, but a counter that never ends would. */
bool cupti_range_more(const struct cupti_range *range) {
	return !range->submitted && range->runs < 2 * range->config.passes + 2;
}

static bool data_decode(struct cupti_range *range, size_t wanted, char reason[COUNTER_REASON]) {
	CUPTI_PARAMS(CUpti_RangeProfiler_DecodeData, decode, .pRangeProfilerObject = range->profiler);
	CUPTI_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info, .pCounterDataImage = range->data,
	             .counterDataImageSize = range->data_size);
	if (!cupti_fine(range->cupti->cuptiRangeProfilerDecodeData(&decode), "to decode", reason) ||
	    !cupti_fine(range->cupti->cuptiRangeProfilerGetCounterDataInfo(&info), "the decoded values", reason))
		return false;
	bool whole = range->submitted && decode.numOfRangeDropped == 0 && info.numTotalRanges == wanted;
	if (!whole)
		snprintf(reason, COUNTER_REASON,
		         "CUPTI returned %zu ranges instead of %zu, and dropped %zu, in %zu runs of %zu passes",
		         info.numTotalRanges, wanted, decode.numOfRangeDropped, range->runs, range->config.passes);
	return whole;
}

static bool values_read(struct cupti_range *range, size_t index, double *values, char reason[COUNTER_REASON]) {
	for (size_t i = 0; i < range->count; i++)
		values[i] = NAN;
	CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, get, .pHostObject = range->config.host,
	             .pCounterDataImage = range->data, .counterDataImageSize = range->data_size, .rangeIndex = index,
	             .ppMetricNames = (const char **)range->metrics, .numMetrics = range->count, .pMetricValues = values);
	return cupti_fine(range->cupti->cuptiProfilerHostEvaluateToGpuValues(&get), "the values", reason);
}

bool cupti_range_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]) {
	for (size_t i = 0; i < range->count; i++)
		values[i] = NAN;
	return data_decode(range, 1, reason) && values_read(range, 0, values, reason);
}

bool cupti_launches_values(struct cupti_range *range, double *values, char reason[COUNTER_REASON]) {
	bool fine = data_decode(range, range->runs, reason);
	for (size_t i = 0; i < range->runs && fine; i++)
		fine = values_read(range, i, values + i * range->count, reason);
	return fine;
}

/* Sums up CUPTI's activity records. CUPTI requests buffers and returns them filled, in threads of its own. */

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGN = 8 };

struct records {
	pthread_mutex_t lock;
	bool registered;
	uint64_t first, last; /* nanoseconds; last 0: no record yet */
	struct cupti_totals totals;
};

static struct records *records(void) {
	static struct records only = {.lock = PTHREAD_MUTEX_INITIALIZER};
	return &only;
}

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* CUPTI carries on if it does not get a buffer, and counts the records that it drops. */
static void CUPTIAPI buffer_give(uint8_t **buffer, size_t *size, size_t *most) {
	*buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static double interval(struct records *all, uint64_t start, uint64_t end) {
	if (start == 0 || end < start)
		return 0;
	all->first = all->last == 0 || start < all->first ? start : all->first;
	all->last = end > all->last ? end : all->last;
	return (double)(end - start) * 1e-9;
}

static bool is_kernel(const struct cupti_kernel *row, const CUpti_ActivityKernel4 *kernel) {
	return strncmp(row->name, kernel->name, sizeof row->name - 1) == 0 && row->grid[0] == kernel->gridX &&
	       row->grid[1] == kernel->gridY && row->grid[2] == kernel->gridZ && row->block[0] == kernel->blockX &&
	       row->block[1] == kernel->blockY && row->block[2] == kernel->blockZ &&
	       row->shared_dynamic == kernel->dynamicSharedMemory;
}

static struct cupti_kernel *row_find(struct cupti_totals *totals, const CUpti_ActivityKernel4 *kernel) {
	for (size_t i = 0; i < totals->kernel_count; i++)
		if (is_kernel(&totals->kernels[i], kernel))
			return &totals->kernels[i];
	if (totals->kernel_count == CUPTI_KERNELS_MAX)
		return NULL;
	struct cupti_kernel *row = &totals->kernels[totals->kernel_count++];
	*row = (struct cupti_kernel){.registers = kernel->registersPerThread,
	                             .shared_static = kernel->staticSharedMemory,
	                             .shared_dynamic = kernel->dynamicSharedMemory,
	                             .grid = {kernel->gridX, kernel->gridY, kernel->gridZ},
	                             .block = {kernel->blockX, kernel->blockY, kernel->blockZ}};
	snprintf(row->name, sizeof row->name, "%s", kernel->name);
	return row;
}

/* Later versions of the kernel record begin like version 4, up to the name. */
static void kernel_add(struct records *all, const CUpti_ActivityKernel4 *kernel) {
	double seconds = interval(all, kernel->start, kernel->end);
	struct cupti_kernel *row = kernel->name ? row_find(&all->totals, kernel) : NULL;
	all->totals.kernel_seconds += seconds;
	all->totals.launches++;
	if (row) {
		row->seconds += seconds;
		row->launches++;
	}
}

static enum cupti_copy copy_way(uint8_t kind) {
	switch (kind) {
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
		return CUPTI_UP;
	case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
	case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
		return CUPTI_DOWN;
	case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
		return CUPTI_PEER;
	default:
		return CUPTI_ACROSS;
	}
}

static void copy_add(struct records *all, enum cupti_copy way, uint64_t bytes, double seconds) {
	all->totals.copy_seconds[way] += seconds;
	all->totals.copy_bytes[way] += (double)bytes;
	all->totals.copies[way]++;
}

static void record_add(struct records *all, const CUpti_Activity *record) {
	if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
		kernel_add(all, (const CUpti_ActivityKernel4 *)record);
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
		const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)record;
		copy_add(all, copy_way(copy->copyKind), copy->bytes, interval(all, copy->start, copy->end));
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
		const CUpti_ActivityMemcpyPtoP4 *copy = (const CUpti_ActivityMemcpyPtoP4 *)record;
		copy_add(all, CUPTI_PEER, copy->bytes, interval(all, copy->start, copy->end));
	} else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
		const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;
		all->totals.set_seconds += interval(all, set->start, set->end);
		all->totals.set_bytes += (double)set->bytes;
		all->totals.sets++;
	}
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
	char reason[COUNTER_REASON];
	const struct cupti_library *cupti = cupti_library(reason);
	struct records *all = records();
	CUpti_Activity *record = NULL;
	size_t dropped = 0;
	(void)size;
	pthread_mutex_lock(&all->lock);
	while (valid > 0 && cupti->cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		record_add(all, record);
	if (cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
		all->totals.dropped += (long)dropped;
	pthread_mutex_unlock(&all->lock);
	free(buffer);
}

static bool callbacks_register(const struct cupti_library *cupti, struct records *all, char reason[COUNTER_REASON]) {
	if (!all->registered)
		all->registered = cupti_fine(cupti->cuptiActivityRegisterCallbacks(buffer_give, buffer_completed),
		                             "registering for activity records", reason);
	return all->registered;
}

static void kinds_disable(const struct cupti_library *cupti) {
	for (size_t i = 0; i < KINDS; i++)
		cupti->cuptiActivityDisable(kinds[i]);
}

static void totals_clear(struct records *all) {
	pthread_mutex_lock(&all->lock);
	all->totals = (struct cupti_totals){.launches = 0};
	all->first = all->last = 0;
	pthread_mutex_unlock(&all->lock);
}

bool cupti_activity_start(char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	struct records *all = records();
	bool fine = cupti && callbacks_register(cupti, all, reason);
	for (size_t i = 0; i < KINDS && fine; i++)
		fine = cupti_fine(cupti->cuptiActivityEnable(kinds[i]), "activity records", reason);
	if (!fine && cupti)
		kinds_disable(cupti);
	if (fine)
		totals_clear(all);
	return fine;
}

bool cupti_activity_stop(struct cupti_totals *totals, char reason[COUNTER_REASON]) {
	const struct cupti_library *cupti = cupti_library(reason);
	struct records *all = records();
	bool fine = cupti && cupti_fine(cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "to flush", reason);
	if (cupti)
		kinds_disable(cupti);
	pthread_mutex_lock(&all->lock);
	*totals = all->totals;
	totals->span_seconds = (double)(all->last - all->first) * 1e-9;
	pthread_mutex_unlock(&all->lock);
	return fine;
}
