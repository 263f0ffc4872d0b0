/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up CUPTI's activity records. CUPTI requests buffers and returns them filled, in threads of its own. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/cupti/cupti.h"
#include "counters/cupti/library.h"

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
