/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of perf by region: each thread of a team counts its own part of the region's code. SWEETSPOT_REGION_EVENTS
 * names them as for libsweetspot's regions: name=TYPE:CONFIG,.. They are opened for each call, which takes some
 * microseconds: between regions the program may look at its open files, close them, or count them against a limit. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"

static bool event_read(const char *text, struct omp_event *event) {
	char *end;
	size_t length = strcspn(text, "=,");
	if (length == 0 || length >= sizeof event->name || text[length] != '=')
		return false;
	memcpy(event->name, text, length);
	event->name[length] = '\0';
	errno = 0;
	unsigned long type = strtoul(text + length + 1, &end, 10);
	if (errno || *end != ':' || type > UINT32_MAX)
		return false;
	event->type = (uint32_t)type;
	event->config = strtoull(end + 1, &end, 0);
	return !errno && (*end == '\0' || *end == ',');
}

void omp_events_find(struct omp_record *record, const char *text) {
	while (text && *text && record->event_count < OMP_EVENTS) {
		struct omp_event event = {.error = 0};
		if (event_read(text, &event))
			record->events[record->event_count++] = event;
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static int event_open(const struct omp_event *event, bool user_only) {
	struct perf_event_attr attr = {.size = sizeof attr,
	                               .type = event->type,
	                               .config = event->config,
	                               .exclude_kernel = user_only,
	                               .exclude_hv = 1,
	                               .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* These happen in the kernel and would read 0 without its part. */
static bool is_kernels_own(const struct omp_event *event) {
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES || event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* An event that cannot be counted once is not tried again. */
static int event_begin(struct omp_event *event) {
	if (__atomic_load_n(&event->error, __ATOMIC_RELAXED))
		return -1;
	int file = event_open(event, false);
	if (file < 0 && (errno == EACCES || errno == EPERM) && !is_kernels_own(event))
		file = event_open(event, true);
	if (file < 0)
		__atomic_store_n(&event->error, (uint32_t)errno, __ATOMIC_RELAXED);
	return file;
}

/* Scaled up where the kernel shared the counter between events. */
static double value_read(int file, struct omp_event *event) {
	uint64_t now[3];
	if (read(file, now, sizeof now) != (ssize_t)sizeof now)
		return 0;
	if (now[2] < now[1])
		__atomic_add_fetch(&event->scaled, 1, __ATOMIC_RELAXED);
	return now[2] ? (double)now[0] * ((double)now[1] / (double)now[2]) : 0;
}

void omp_counts_begin(struct omp_counts *counts, struct omp_record *record) {
	for (uint32_t i = 0; i < OMP_EVENTS; i++)
		counts->file[i] = i < record->event_count ? event_begin(&record->events[i]) + 1 : 0;
}

void omp_counts_end(const struct omp_counts *counts, struct omp_record *record, struct omp_region *region) {
	for (uint32_t i = 0; i < OMP_EVENTS; i++) {
		if (!counts->file[i])
			continue;
		if (region)
			__atomic_add_fetch(&region->counts[i], (uint64_t)value_read(counts->file[i] - 1, &record->events[i]),
			                   __ATOMIC_RELAXED);
		close(counts->file[i] - 1);
	}
}
