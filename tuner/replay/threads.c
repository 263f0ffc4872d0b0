/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/replay/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/mem.h"

static const long WATCH_NANOSECONDS = 100 * 1000 * 1000;

struct crew {
	const struct crew_work *work;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t next, done, at_work; /* at_work: threads */
	bool over;
};

/* Called with the mutex held. */
static bool take(struct crew *crew, size_t *i) {
	if (crew->over || crew->next == crew->work->count)
		return false;
	*i = crew->next++;
	return true;
}

static void *labour(void *ctx) {
	struct crew *crew = ctx;
	size_t i;
	pthread_mutex_lock(&crew->mutex);
	while (take(crew, &i)) {
		pthread_mutex_unlock(&crew->mutex);
		crew->work->work(crew->work->ctx, i);
		pthread_mutex_lock(&crew->mutex);
		crew->done++;
	}
	crew->at_work--;
	pthread_cond_signal(&crew->changed);
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

static struct timespec soon(void) {
	struct timespec when;
	clock_gettime(CLOCK_REALTIME, &when);
	when.tv_nsec += WATCH_NANOSECONDS;
	when.tv_sec += when.tv_nsec / 1000000000;
	when.tv_nsec %= 1000000000;
	return when;
}

/* Until the last thread is through; called with the mutex held. */
static void wait_watching(struct crew *crew) {
	while (crew->at_work) {
		struct timespec when = soon();
		pthread_cond_timedwait(&crew->changed, &crew->mutex, &when);
		size_t done = crew->done;
		pthread_mutex_unlock(&crew->mutex);
		bool over = crew->work->watch && crew->work->watch(crew->work->ctx, done);
		pthread_mutex_lock(&crew->mutex);
		crew->over = crew->over || over;
	}
}

size_t crew_run(const struct crew_work *work, size_t threads) {
	struct crew crew = {.work = work, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	size_t started = 0;
	threads = threads < work->count ? threads : work->count;
	pthread_t *thread = mem_alloc(threads ? threads : 1, sizeof *thread);
	crew.at_work = threads;
	while (started < threads && pthread_create(&thread[started], NULL, labour, &crew) == 0)
		started++;
	pthread_mutex_lock(&crew.mutex);
	crew.at_work -= threads - started;
	wait_watching(&crew);
	pthread_mutex_unlock(&crew.mutex);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (started == 0 && work->count) { /* no thread is to be had */
		crew.at_work = 1;
		labour(&crew);
	}
	free(thread);
	return crew.done;
}

size_t crew_cores(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count > 0 ? (size_t)count : 1;
}
