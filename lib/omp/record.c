/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/omp/omp.h"

static _Atomic(struct omp_record *) record;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct omp_record unwritten; /* where no file is wanted or can be made; it keeps no calls */

static struct omp_record *map(const char *prefix) {
	const size_t size = sizeof(struct omp_record) + OMP_CALLS * sizeof(struct omp_call);
	char path[4096];
	void *memory = MAP_FAILED;
	char host[65] = "";
	/* Ranks on several nodes may share the folder. */
	gethostname(host, sizeof host - 1);
	if (snprintf(path, sizeof path, "%s.%s.%ld", prefix, host, (long)getpid()) >= (int)sizeof path)
		return NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* The file is sparse, so pages that no call fills take no space. */
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

static struct omp_record *make(void) {
	const char *prefix = omp_word(OMP_WORD_RECORD);
	struct omp_record *made = prefix ? map(prefix) : NULL;
	if (made)
		made->call_room = OMP_CALLS;
	else
		made = &unwritten;
	made->size = sizeof *made;
	made->pid = (uint32_t)getpid();
	made->cpus = omp_cpus_allowed();
	made->asks = omp_threads_asked();
	made->start_ns = omp_now();
	if (made != &unwritten)
		omp_events_find(made);
	memcpy(made->magic, OMP_RECORD_MAGIC, sizeof made->magic);
	return made;
}

struct omp_record *omp_record_get(void) {
	struct omp_record *now = atomic_load_explicit(&record, memory_order_acquire);
	if (now)
		return now;
	pthread_mutex_lock(&lock);
	now = atomic_load_explicit(&record, memory_order_relaxed);
	if (!now) {
		now = make();
		atomic_store_explicit(&record, now, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return now;
}

void omp_record_forked(void) {
	pthread_mutex_init(&lock, NULL);
	memset(&unwritten, 0, sizeof unwritten);
	atomic_store(&record, NULL);
}

static void thread_read(const char *name, struct omp_record *now) {
	char path[64], text[64] = "";
	unsigned long long ran, waited;
	snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && sscanf(text, "%llu %llu", &ran, &waited) == 2) {
		now->ran_ns += ran;
		now->waited_ns += waited;
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
	if (!now || now == &unwritten || now->pid != (uint32_t)getpid())
		return;
	threads_read(now);
	now->asks = omp_threads_asked();
	now->end_ns = omp_now();
}
