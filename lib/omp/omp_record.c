/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"
#include "lib/record/spool.h"

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
