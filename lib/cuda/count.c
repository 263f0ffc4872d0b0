/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the launches that are counted: of each function and size the first, the second, the fourth and so on, because
 * each of them costs milliseconds. Sizes are told apart because a function that is launched in turn on a narrow strip
 * and on the rest would else be judged by its strips. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cuda/inject.h"

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
