/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/cuda/inject_impl.h"
#include "lib/record/spool.h"

static void *library_find(const char *named) {
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
	void *handle = named && *named ? dlopen(named, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && !handle; i++)
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return handle;
}

const struct inject_cupti *inject_cupti(struct cuda_record *record) {
	static struct inject_cupti found;
	const char *named = getenv("SWEETSPOT_CUDA_CUPTI"), *missing = NULL;
	void *handle = library_find(named);
	if (!handle) {
		const char *why = dlerror();
		inject_fail(record, "libcupti cannot be opened: %.140s", why ? why : "it is not in the linker's path");
		return NULL;
	}
#define INJECT_LOOK(name)                                                                                              \
	if (!(*(void **)&found.name = dlsym(handle, #name)))                                                               \
		missing = #name;
	INJECT_FUNCTIONS(INJECT_LOOK)
#undef INJECT_LOOK
	if (missing) {
		inject_fail(record, "libcupti is older than CUDA 12.6: it does not export %s", missing);
		return NULL;
	}
	found.cuptiGetVersion(&record->cupti);
	return &found;
}

bool inject_fine(const struct inject_cupti *cupti, struct cuda_record *record, CUptiResult result, const char *what) {
	const char *text = NULL;
	if (result == CUPTI_SUCCESS)
		return true;
	cupti->cuptiGetResultString(result, &text);
	if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
		inject_fail(record, "the driver denies GPU counters (ERR_NVGPUCTRPERM): be root or have CAP_SYS_ADMIN, or load "
		                    "the nvidia module with NVreg_RestrictProfilingToAdminUsers=0");
	else if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		inject_fail(record, "the program or another tool uses CUPTI already");
	else
		inject_fail(record, "%s: %s (%d)", what, text ? text : "unknown failure", (int)result);
	return false;
}

_Static_assert(offsetof(struct cuda_record, ranges) <= SPOOL_BLOCK, "the first block is always there");

static struct spool *spool(void) {
	static struct spool only;
	return &only;
}

bool inject_reserve(const struct cuda_record *record, const void *at, size_t size) {
	size_t from = (size_t)((const char *)at - (const char *)record);
	return spool_reserve(spool(), from, from + size);
}

/* NULL: no file is wanted, or none can be made. */
static struct cuda_record *inject_record_make(void) {
	const char *prefix = getenv("SWEETSPOT_CUDA_RECORD");
	const size_t size = sizeof(struct cuda_record) + CUDA_SPANS * sizeof(struct cuda_span);
	struct cuda_record *record = prefix && *prefix ? spool_open(spool(), prefix, size) : NULL;
	if (!record)
		return NULL;
	record->size = sizeof *record;
	record->pid = (uint32_t)getpid();
	memcpy(record->magic, CUDA_RECORD_MAGIC, sizeof record->magic);
	return record;
}

void inject_fail(struct cuda_record *record, const char *format, ...) {
	va_list ap;
	if (record->failure[0])
		return;
	va_start(ap, format);
	vsnprintf(record->failure, sizeof record->failure, format, ap);
	va_end(ap);
}

/* Programs launch the same few functions again and again, so the last one is looked at first. */
struct cuda_function *inject_function(struct cuda_record *record, const char *symbol) {
	static uint32_t last;
	struct cuda_function *all = record->functions;
	uint32_t count = record->function_count;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t i = (last + k) % count;
		if (strncmp(all[i].symbol, symbol, CUDA_SYMBOL - 1) == 0) {
			last = i;
			return &all[i];
		}
	}
	if (count == CUDA_FUNCTIONS || !inject_reserve(record, &all[count], sizeof *all))
		return NULL;
	snprintf(all[count].symbol, CUDA_SYMBOL, "%s", symbol);
	record->function_count = count + 1;
	return &all[count];
}

/* Sums up CUPTI's activity records by function. CUPTI requests buffers and returns them filled, in threads of its own.
 */
enum {
	BUFFER_BYTES = 1 << 20,
	BUFFER_ALIGN = 8,
	SPANS_MORE = 1024,
	FLUSH_MS = 100 /* what a program that crashes did until then is kept */
};

struct activity {
	pthread_mutex_t lock;
	const struct inject_cupti *cupti;
	struct cuda_record *record;
	pthread_mutex_t flush; /* one flush at a time, and none after the last */
	bool ended;
};

static struct activity *activity(void) {
	static struct activity only = {.lock = PTHREAD_MUTEX_INITIALIZER, .flush = PTHREAD_MUTEX_INITIALIZER};
	return &only;
}

/* CUPTI carries on if it does not get a buffer, and counts the records that it drops. */
static void CUPTIAPI buffer_give(uint8_t **buffer, size_t *size, size_t *most) {
	*buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most = 0;
}

static bool spans_grow(struct cuda_record *record) {
	bool grows = record->span_room + SPANS_MORE <= CUDA_SPANS &&
	             inject_reserve(record, &record->spans[record->span_room], SPANS_MORE * sizeof *record->spans);
	record->span_room += grows ? SPANS_MORE : 0;
	return grows;
}

static uint64_t span_add(struct cuda_record *record, const struct cuda_span *span) {
	if (span->start_ns == 0 || span->end_ns < span->start_ns)
		return 0;
	if (record->last_ns == 0 || span->start_ns < record->first_ns)
		record->first_ns = span->start_ns;
	if (span->end_ns > record->last_ns)
		record->last_ns = span->end_ns;
	if (record->span_count < record->span_room || (record->span_count == record->span_room && spans_grow(record)))
		record->spans[record->span_count] = *span;
	record->span_count++;
	return span->end_ns - span->start_ns;
}

/* The longest call represents the others. */
static void shape_keep(struct cuda_function *function, const CUpti_ActivityKernel4 *kernel, bool first, bool longest) {
	const uint32_t grid[3] = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY, (uint32_t)kernel->gridZ};
	const uint32_t block[3] = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY, (uint32_t)kernel->blockZ};
	if (!first) {
		function->grids |= memcmp(function->grid, grid, sizeof grid) != 0;
		function->blocks |= memcmp(function->block, block, sizeof block) != 0 ||
		                    function->shared_dynamic != (uint32_t)kernel->dynamicSharedMemory;
	}
	if (!longest)
		return;
	memcpy(function->grid, grid, sizeof grid);
	memcpy(function->block, block, sizeof block);
	function->registers = kernel->registersPerThread;
	function->shared_static = (uint32_t)kernel->staticSharedMemory;
	function->shared_dynamic = (uint32_t)kernel->dynamicSharedMemory;
	function->local_bytes = kernel->localMemoryPerThread;
	function->device = kernel->deviceId;
}

/* Later versions of the kernel record begin like version 4, up to the name. */
static void kernel_add(struct cuda_record *record, const CUpti_ActivityKernel4 *kernel) {
	if (kernel->start == 0 || kernel->end < kernel->start) {
		record->untimed++;
		return;
	}
	struct cuda_function *function = inject_function(record, kernel->name ? kernel->name : "(unknown)");
	const struct cuda_span span = {.start_ns = kernel->start,
	                               .end_ns = kernel->end,
	                               .function = function ? (uint16_t)(function - record->functions) : UINT16_MAX,
	                               .device = (uint16_t)kernel->deviceId,
	                               .stream = kernel->streamId};
	uint64_t ns = span_add(record, &span);
	if (!function) {
		record->others++;
		record->others_ns += ns;
		return;
	}
	bool first = function->calls == 0, longest = first || ns > function->most_ns;
	shape_keep(function, kernel, first, longest);
	function->least_ns = first || ns < function->least_ns ? ns : function->least_ns;
	function->most_ns = longest ? ns : function->most_ns;
	function->ns += ns;
	function->calls++;
}

static enum cuda_way copy_way(uint8_t kind) {
	switch (kind) {
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
		return CUDA_UP;
	case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
	case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
		return CUDA_DOWN;
	case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
		return CUDA_PEER;
	case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
		return CUDA_HOST;
	default:
		return CUDA_ACROSS;
	}
}

static void copy_add(struct cuda_record *record, enum cuda_way way, uint64_t bytes, struct cuda_span span,
                     bool pageable) {
	struct cuda_copies *copies = &record->copies[way];
	span.function = (uint16_t)(CUDA_FUNCTIONS + way);
	uint64_t ns = span_add(record, &span);
	copies->count++;
	copies->bytes += bytes;
	copies->ns += ns;
	copies->pageable += pageable;
	copies->pageable_bytes += pageable ? bytes : 0;
	copies->pageable_ns += pageable ? ns : 0;
}

static void device_add(struct cuda_record *record, const CUpti_ActivityDevice5 *device) {
	if (device->id >= CUDA_DEVICES)
		return;
	struct cuda_device *out = &record->devices[device->id];
	snprintf(out->name, sizeof out->name, "%s", device->name ? device->name : "");
	out->major = device->computeCapabilityMajor;
	out->minor = device->computeCapabilityMinor;
	out->sms = device->numMultiprocessors;
	out->warps_per_sm = device->maxWarpsPerMultiprocessor;
	out->blocks_per_sm = device->maxBlocksPerMultiprocessor;
	out->shared_per_sm = device->maxSharedMemoryPerMultiprocessor;
	out->registers_per_sm = device->maxRegistersPerMultiprocessor;
	out->registers_per_block = device->maxRegistersPerBlock;
	out->shared_per_block = device->maxSharedMemoryPerBlock;
	out->threads_per_block = device->maxThreadsPerBlock;
}

#define SPAN(record)                                                                                                   \
	((struct cuda_span){.start_ns = (record)->start,                                                                   \
	                    .end_ns = (record)->end,                                                                       \
	                    .device = (uint16_t)(record)->deviceId,                                                        \
	                    .stream = (record)->streamId})

static void record_add(struct cuda_record *record, const CUpti_Activity *one) {
	if (one->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || one->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
		kernel_add(record, (const CUpti_ActivityKernel4 *)one);
	} else if (one->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
		const CUpti_ActivityMemcpy6 *copy = (const CUpti_ActivityMemcpy6 *)one;
		bool pageable = copy->srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
		                copy->dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
		copy_add(record, copy_way(copy->copyKind), copy->bytes, SPAN(copy), pageable);
	} else if (one->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
		const CUpti_ActivityMemcpyPtoP4 *copy = (const CUpti_ActivityMemcpyPtoP4 *)one;
		copy_add(record, CUDA_PEER, copy->bytes, SPAN(copy), false);
	} else if (one->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
		const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)one;
		copy_add(record, CUDA_SET, set->bytes, SPAN(set), false);
	} else if (one->kind == CUPTI_ACTIVITY_KIND_DEVICE) {
		device_add(record, (const CUpti_ActivityDevice5 *)one);
	}
}

static struct activity *activity(void);

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
	struct activity *all = activity();
	CUpti_Activity *one = NULL;
	size_t dropped = 0;
	const struct inject_guard guard = inject_guard_begin();
	(void)size;
	pthread_mutex_lock(&all->lock);
	while (valid > 0 && all->cupti->cuptiActivityGetNextRecord(buffer, valid, &one) == CUPTI_SUCCESS)
		record_add(all->record, one);
	if (all->cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
		all->record->dropped += dropped;
	pthread_mutex_unlock(&all->lock);
	free(buffer);
	inject_guard_end(guard);
}

/* CUPTI's own period is for full buffers only. */
static void *flusher(void *ctx) {
	struct activity *all = ctx;
	const struct timespec pause = {.tv_nsec = FLUSH_MS * 1000000L};
	for (bool ended = false; !ended;) {
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&all->flush);
		ended = all->ended;
		if (!ended)
			all->cupti->cuptiActivityFlushAll(0);
		pthread_mutex_unlock(&all->flush);
	}
	return NULL;
}

/* The program's signals are not for this thread. */
static void flusher_start(void) {
	sigset_t all, before;
	pthread_t thread;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, flusher, activity()) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool inject_activity_start(const struct inject_cupti *cupti, struct cuda_record *record) {
	static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
	                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
	                                           CUPTI_ACTIVITY_KIND_MEMSET};
	struct activity *all = activity();
	all->cupti = cupti;
	all->record = record;
	cupti->cuptiGetTimestamp(&record->begun_ns);
	bool fine = inject_fine(cupti, record, cupti->cuptiActivityRegisterCallbacks(buffer_give, buffer_completed),
	                        "registering for activity records");
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && fine; i++)
		fine = inject_fine(cupti, record, cupti->cuptiActivityEnable(kinds[i]), "activity records");
	if (fine)
		flusher_start();
	return fine;
}

void inject_activity_end(void) {
	struct activity *all = activity();
	pthread_mutex_lock(&all->flush);
	all->ended = true;
	all->cupti->cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	pthread_mutex_unlock(&all->flush);
}

struct injected {
	struct cuda_record *record; /* NULL: nothing is watched */
	bool times, counts;
};

static struct injected *injected(void) {
	static struct injected only;
	return &only;
}

struct inject_guard inject_guard_begin(void) {
	struct inject_guard guard = {.error = errno};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel);
	return guard;
}

void inject_guard_end(struct inject_guard guard) {
	errno = guard.error;
	pthread_setcancelstate(guard.cancel, NULL);
}

static struct injected *injected(void);

/* A process that was forked since then must not speak for its parent. */
static void end(void) {
	struct injected *now = injected();
	if (now->record->pid != (uint32_t)getpid())
		return;
	const struct inject_guard guard = inject_guard_begin();
	if (now->times)
		inject_activity_end();
	if (now->counts)
		inject_count_end();
	now->record->ended = 1;
	inject_guard_end(guard);
}

/* The driver calls it in cuInit. 1: success; the program runs in any case. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
	struct injected *now = injected();
	if (now->record)
		return 1;
	const struct inject_guard guard = inject_guard_begin();
	now->record = inject_record_make();
	const struct inject_cupti *cupti = now->record ? inject_cupti(now->record) : NULL;
	const char *metrics = getenv("SWEETSPOT_CUDA_METRICS");
	if (cupti && metrics)
		now->counts = inject_count_start(cupti, now->record, metrics);
	else if (cupti)
		now->times = inject_activity_start(cupti, now->record);
	if (now->record)
		atexit(end);
	inject_guard_end(guard);
	return 1;
}
