/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/replay/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/mem.h"

static const long WATCH_NANOSECONDS = 100 * 1000 * 1000;

struct replay_threads {
	const struct replay_threads_work *work;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t next, done, at_work; /* at_work: threads */
	bool over;
};

/* Called with the mutex held. */
static bool take(struct replay_threads *team, size_t *i) {
	if (team->over || team->next == team->work->count)
		return false;
	*i = team->next++;
	return true;
}

static void *labour(void *ctx) {
	struct replay_threads *team = ctx;
	size_t i;
	pthread_mutex_lock(&team->mutex);
	while (take(team, &i)) {
		pthread_mutex_unlock(&team->mutex);
		team->work->work(team->work->ctx, i);
		pthread_mutex_lock(&team->mutex);
		team->done++;
	}
	team->at_work--;
	pthread_cond_signal(&team->changed);
	pthread_mutex_unlock(&team->mutex);
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
static void wait_watching(struct replay_threads *team) {
	while (team->at_work) {
		struct timespec when = soon();
		pthread_cond_timedwait(&team->changed, &team->mutex, &when);
		size_t done = team->done;
		pthread_mutex_unlock(&team->mutex);
		bool over = team->work->watch && team->work->watch(team->work->ctx, done);
		pthread_mutex_lock(&team->mutex);
		team->over = team->over || over;
	}
}

size_t replay_threads_run(const struct replay_threads_work *work, size_t threads) {
	struct replay_threads team = {
		.work = work, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	size_t started = 0;
	threads = threads < work->count ? threads : work->count;
	pthread_t *thread = mem_alloc(threads ? threads : 1, sizeof *thread);
	team.at_work = threads;
	while (started < threads && pthread_create(&thread[started], NULL, labour, &team) == 0)
		started++;
	pthread_mutex_lock(&team.mutex);
	team.at_work -= threads - started;
	wait_watching(&team);
	pthread_mutex_unlock(&team.mutex);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (started == 0 && work->count) { /* no thread is to be had */
		team.at_work = 1;
		labour(&team);
	}
	free(thread);
	return team.done;
}

size_t replay_threads_cores(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count > 0 ? (size_t)count : 1;
}
