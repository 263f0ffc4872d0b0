/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"
#include "lib/record/spool.h"

/* Events of perf by region: each thread of a team counts its own part of the region's code. SWEETSPOT_REGION_EVENTS
 * names them as for libsweetspot's regions: name=TYPE:CONFIG,.. They are opened for each call, which takes some
 * microseconds: between regions the program may look at its open files, close them, or count them against a limit. */
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
static double value_read(int file) {
	uint64_t now[3];
	if (read(file, now, sizeof now) != (ssize_t)sizeof now)
		return 0;
	return now[2] ? (double)now[0] * ((double)now[1] / (double)now[2]) : 0;
}

void omp_counts_begin(struct omp_counts *counts, struct omp_record *record) {
	for (uint32_t i = 0; i < OMP_EVENTS; i++)
		counts->file[i] = i < record->event_count ? event_begin(&record->events[i]) + 1 : 0;
}

void omp_counts_end(const struct omp_counts *counts, struct omp_region *region) {
	for (uint32_t i = 0; i < OMP_EVENTS; i++) {
		if (!counts->file[i])
			continue;
		if (region)
			__atomic_add_fetch(&region->counts[i], (uint64_t)value_read(counts->file[i] - 1), __ATOMIC_RELAXED);
		close(counts->file[i] - 1);
	}
}

/* Processors that the process may use at the same time: those of its affinity mask, or fewer where a control group
 * limits its processor time. A team beyond that waits for itself, which must not look like the work of others. */
enum { GROUP_TEXT = 4096 };

static bool file_text(const char *path, char *text, size_t size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* "200000 100000" of version 2, "max 100000" for none. */
static double quota_two(const char *folder) {
	char path[GROUP_TEXT + 32], text[64], *end;
	snprintf(path, sizeof path, "%s/cpu.max", folder);
	if (!file_text(path, text, sizeof text))
		return INFINITY;
	double quota = strtod(text, &end), period = strtod(end, NULL);
	return quota > 0 && period > 0 && isfinite(quota) ? quota / period : INFINITY;
}

/* Version 1 has two files, and -1 for none. */
static double quota_one(const char *folder) {
	char path[GROUP_TEXT + 32], text[64];
	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
	double quota = file_text(path, text, sizeof text) ? atof(text) : 0;
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
	double period = file_text(path, text, sizeof text) ? atof(text) : 0;
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* Each group above may be tighter. */
static double quota_upwards(const char *root, const char *group, double (*quota_of)(const char *)) {
	char folder[GROUP_TEXT];
	double least = INFINITY;
	size_t top = strlen(root);
	if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, group) >= sizeof folder)
		return INFINITY;
	for (;;) {
		double quota = quota_of(folder);
		least = quota < least ? quota : least;
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < top)
			return least;
		*slash = '\0';
	}
}

double omp_quota_read(const char *groups, const char *root) {
	char text[GROUP_TEXT], one[GROUP_TEXT], *save;
	double least = INFINITY;
	if (!file_text(groups, text, sizeof text))
		return INFINITY;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
		double quota = INFINITY;
		if (!group)
			continue;
		*group++ = '\0';
		names++;
		if (!*names)
			quota = quota_upwards(root, group, quota_two);
		else if (strcmp(names, "cpu") == 0 || strstr(names, "cpu,") == names || strstr(names, ",cpu"))
			quota = (size_t)snprintf(one, sizeof one, "%s/cpu", root) < sizeof one
			            ? quota_upwards(one, group, quota_one)
			            : INFINITY;
		least = quota < least ? quota : least;
	}
	return least;
}

uint32_t omp_cpus_allowed(double quota) {
	cpu_set_t set;
	uint32_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 0;
	return quota < cpus ? (quota > 1 ? (uint32_t)(quota + 0.999) : 1) : cpus;
}

static _Atomic(struct omp_record *) record;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct spool spool;
static double quota = INFINITY;

_Static_assert(offsetof(struct omp_record, regions) <= SPOOL_BLOCK, "the first block is always there");

static struct omp_record *make(void) {
	const char *prefix = omp_word(OMP_WORD_RECORD);
	const size_t size = sizeof(struct omp_record) + OMP_CALLS * sizeof(struct omp_call);
	struct omp_record *made = prefix ? spool_open(&spool, prefix, size) : NULL;
	bool filed = made != NULL;
	if (!made)
		made = omp_memory(sizeof *made);
	if (!made)
		return NULL;
	made->size = sizeof *made;
	made->pid = (uint32_t)getpid();
	made->cpus = omp_cpus_allowed(quota);
	made->asks = omp_threads_asked();
	made->start_ns = omp_now();
	if (filed)
		omp_events_find(made, omp_word(OMP_WORD_EVENTS));
	memcpy(made->magic, OMP_RECORD_MAGIC, sizeof made->magic);
	return made;
}

struct omp_record *omp_record_get(void) {
	struct omp_record *now = atomic_load_explicit(&record, memory_order_acquire);
	if (now || !omp_lock(&lock))
		return now;
	now = atomic_load_explicit(&record, memory_order_relaxed);
	if (!now) {
		now = make();
		atomic_store_explicit(&record, now, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return now;
}

bool omp_record_reserve(const struct omp_record *now, const void *at, size_t size) {
	size_t from = (size_t)((const char *)at - (const char *)now);
	return *spool.path ? spool_reserve(&spool, from, from + size) : from + size <= sizeof *now;
}

void omp_record_forked(void) {
	pthread_mutex_init(&lock, NULL);
	atomic_store(&record, NULL);
	*spool.path = '\0';
}

__attribute__((constructor)) static void start(void) {
	if (omp_word(OMP_WORD_RECORD))
		quota = omp_quota_read("/proc/self/cgroup", "/sys/fs/cgroup");
}

static void thread_read(const char *name, struct omp_record *now) {
	char path[64], text[64] = "", *end;
	snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0) {
		now->ran_ns += strtoull(text, &end, 10);
		now->waited_ns += strtoull(end, NULL, 10);
	}
	if (fd >= 0)
		close(fd);
}

/* A machine that others use at the same time makes large teams look bad. */
static void threads_read(struct omp_record *now) {
	DIR *dir = opendir("/proc/self/task");
	for (struct dirent *entry; dir && (entry = readdir(dir));)
		if (entry->d_name[0] != '.')
			thread_read(entry->d_name, now);
	if (dir)
		closedir(dir);
}

__attribute__((destructor)) static void end(void) {
	struct omp_record *now = atomic_load(&record);
	struct omp_guard guard;
	if (!now || !*spool.path || now->pid != (uint32_t)getpid() || !omp_guard_begin(&guard))
		return;
	threads_read(now);
	now->asks = omp_threads_asked();
	now->end_ns = omp_now();
	omp_guard_end(&guard);
}
