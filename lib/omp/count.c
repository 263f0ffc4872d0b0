/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of perf by region: each thread of a team counts its own part of the region's code. SWEETSPOT_REGION_EVENTS
 * names them as for libsweetspot's regions: name=TYPE:CONFIG,.. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/omp/omp.h"

/* Files of a thread, which closes them when it ends: runtimes end threads whenever a team becomes smaller. */
struct files {
	pid_t process; /* a child's thread must not count in its parent's files */
	int file[OMP_EVENTS];
	double before[OMP_EVENTS];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
OMP_TLS struct files *mine;

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

void omp_events_find(struct omp_record *record) {
	const char *text = omp_word(OMP_WORD_EVENTS);
	while (text && *text && record->event_count < OMP_EVENTS) {
		struct omp_event event = {.error = 0};
		if (event_read(text, &event))
			record->events[record->event_count++] = event;
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static void files_close(void *data) {
	struct files *files = data;
	for (size_t i = 0; files->process == getpid() && i < OMP_EVENTS; i++)
		if (files->file[i] >= 0)
			close(files->file[i]);
	free(files);
	mine = NULL;
}

static void key_make(void) {
	pthread_key_create(&key, files_close);
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

static struct files *files_open(struct omp_record *record) {
	pthread_once(&once, key_make);
	struct files *files = calloc(1, sizeof *files);
	if (!files)
		return NULL;
	files->process = getpid();
	for (uint32_t i = 0; i < OMP_EVENTS; i++) {
		struct omp_event *event = &record->events[i];
		files->file[i] = -1;
		if (i >= record->event_count)
			continue;
		files->file[i] = event_open(event, false);
		if (files->file[i] < 0 && (errno == EACCES || errno == EPERM) && !is_kernels_own(event))
			files->file[i] = event_open(event, true);
		if (files->file[i] < 0)
			__atomic_store_n(&event->error, (uint32_t)errno, __ATOMIC_RELAXED);
	}
	pthread_setspecific(key, files);
	return files;
}

/* Scaled up where the kernel shared the counter between events. */
static double value_read(int file) {
	uint64_t now[3];
	if (file < 0 || read(file, now, sizeof now) != (ssize_t)sizeof now)
		return 0;
	return now[2] ? (double)now[0] * ((double)now[1] / (double)now[2]) : 0;
}

void omp_counts_begin(void) {
	struct omp_record *record = omp_record_get();
	int before = errno;
	if (!record->event_count)
		return;
	if (mine && mine->process != getpid()) {
		free(mine);
		mine = NULL;
	}
	if (!mine)
		mine = files_open(record);
	for (uint32_t i = 0; mine && i < record->event_count; i++)
		mine->before[i] = value_read(mine->file[i]);
	errno = before;
}

void omp_counts_end(struct omp_region *region) {
	struct omp_record *record = omp_record_get();
	int before = errno;
	for (uint32_t i = 0; mine && i < record->event_count; i++) {
		double more = value_read(mine->file[i]) - mine->before[i];
		if (more > 0)
			__atomic_add_fetch(&region->counts[i], (uint64_t)more, __ATOMIC_RELAXED);
	}
	errno = before;
}
