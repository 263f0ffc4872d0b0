/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/replay/threads.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "base/mem.h"

static const long WATCH_NANOSECONDS = 100 * 1000 * 1000;

struct replay_threads {
	const struct replay_threads_work *work;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	size_t next, done, running; /* running: threads */
	bool over;
};

/* Called with the mutex held. */
static bool next_piece(struct replay_threads *pool, size_t *i) {
	if (pool->over || pool->next == pool->work->count)
		return false;
	*i = pool->next++;
	return true;
}

static void *thread_run(void *ctx) {
	struct replay_threads *pool = ctx;
	size_t i;
	pthread_mutex_lock(&pool->mutex);
	while (next_piece(pool, &i)) {
		pthread_mutex_unlock(&pool->mutex);
		pool->work->work(pool->work->ctx, i);
		pthread_mutex_lock(&pool->mutex);
		pool->done++;
	}
	pool->running--;
	pthread_cond_signal(&pool->changed);
	pthread_mutex_unlock(&pool->mutex);
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

/* Waits for the last thread; called with the mutex held. */
static void wait_watching(struct replay_threads *pool) {
	while (pool->running) {
		struct timespec when = soon();
		pthread_cond_timedwait(&pool->changed, &pool->mutex, &when);
		size_t done = pool->done;
		pthread_mutex_unlock(&pool->mutex);
		bool over = pool->work->watch && pool->work->watch(pool->work->ctx, done);
		pthread_mutex_lock(&pool->mutex);
		pool->over = pool->over || over;
	}
}

size_t replay_threads_run(const struct replay_threads_work *work, size_t threads) {
	struct replay_threads pool = {
		.work = work, .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	size_t started = 0;
	threads = threads < work->count ? threads : work->count;
	mem_auto pthread_t *thread = mem_alloc(threads ? threads : 1, sizeof *thread);
	pool.running = threads;
	while (started < threads && pthread_create(&thread[started], NULL, thread_run, &pool) == 0)
		started++;
	pthread_mutex_lock(&pool.mutex);
	pool.running -= threads - started;
	wait_watching(&pool);
	pthread_mutex_unlock(&pool.mutex);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (started == 0 && work->count) { /* not a single thread could be created */
		pool.running = 1;
		thread_run(&pool);
	}
	return pool.done;
}

size_t replay_threads_cores(void) {
	cpu_set_t set;
	CPU_ZERO(&set);
	int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
	return count > 0 ? (size_t)count : 1;
}
