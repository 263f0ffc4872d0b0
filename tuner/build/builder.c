/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <signal.h>
#include <time.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/build/impl.h"

static const double LEAST_SECONDS = 1e-3;

static struct build *builder_first(const struct builder *builder) {
	struct build *first = NULL;
	for (size_t i = 0; i < builder->count; i++) {
		struct build *build = builder->list[i];
		if (build->state == BUILD_WANTED && (!first || build->order < first->order))
			first = build;
	}
	return first;
}

/* A build that was stopped has no result: it starts again if it is asked for. */
static bool was_stopped(const struct build *build, int failed) {
	return failed && build->helper && __atomic_load_n(&build->helper->stop, __ATOMIC_RELAXED);
}

/* The limit for a build that begins now and must end within `left_s` (0: no end); 0: none. */
static double builder_limit(const struct builder *builder, double left_s) {
	double limit = left_s > 0 ? fmin(builder->figures.patience_s, left_s) : builder->figures.patience_s;
	return isfinite(limit) ? fmax(limit, LEAST_SECONDS) : 0;
}

/* Called with the mutex held. */
static void builder_stop_slow(struct builder *builder) {
	double now = sys_now();
	for (size_t i = 0; i < builder->count; i++) {
		struct build *build = builder->list[i];
		if (build->state != BUILD_RUNNING || !build->helper || now - build->begun <= builder->figures.patience_s)
			continue;
		build->too_long = true;
		__atomic_store_n(&build->helper->stop, 1, __ATOMIC_RELAXED);
	}
}

/* It failed because it took too long, whether its own limit ended it or somebody stopped it. */
static bool is_given_up(const struct build *build, int failed, double seconds) {
	if (was_stopped(build, failed))
		return build->too_long;
	return !failed && build->built.status != TRIAL_CORRECT && build->limit > 0 && seconds >= 0.99 * build->limit;
}

static void give_up(struct build *build, double seconds) {
	build->state = BUILD_DONE;
	build->built = (struct built){.status = TRIAL_COMPILE, .seconds = seconds, .given_up = true};
	snprintf(build->built.message, sizeof build->built.message,
	         "the build was given up after %.3g s; --build-timeout allows more", seconds);
}

/* Records what a build has come to; `failed` as returned by `make`. */
static void builder_record(struct builder *builder, struct build *build, int failed) {
	struct build_figures *figures = &builder->figures;
	double seconds = sys_now() - build->begun;
	if (is_given_up(build, failed, seconds)) {
		give_up(build, seconds);
		figures->given_up++;
	} else if (was_stopped(build, failed)) {
		build->state = BUILD_IDLE;
		figures->stopped++;
	} else {
		build->state = failed ? BUILD_BROKEN : BUILD_DONE;
	}
	if (!failed && !build->built.found && !(build->built.seconds > 0))
		build->built.seconds = seconds;
	if (build->state == BUILD_DONE && build->built.status == TRIAL_CORRECT)
		figures->longest_s = fmax(figures->longest_s, build->built.seconds);
	figures->made += !failed && !build->built.found;
	figures->found += !failed && build->built.found;
	figures->spent_s += seconds;
	figures->running--;
	build->helper = NULL;
}

static void build_begin(struct build_helper *helper, struct build *build) {
	struct build_figures *figures = &helper->builder->figures;
	build->state = BUILD_RUNNING;
	build->helper = helper;
	build->begun = sys_now();
	memset(&build->built, 0, sizeof build->built);
	build->err = (struct err){0};
	build->too_long = false;
	build->limit = builder_limit(helper->builder, 0);
	__atomic_store_n(&helper->stop, 0, __ATOMIC_RELAXED);
	if (++figures->running > figures->running_most)
		figures->running_most = figures->running;
}

/* Waits for a build that is wanted; NULL: the end. */
static struct build *next_build(struct builder *builder) {
	for (;;) {
		struct build *build = builder->ending ? NULL : builder_first(builder);
		if (build || builder->ending)
			return build;
		pthread_cond_wait(&builder->wake, &builder->mutex);
	}
}

/* The worker belongs to the thread, because it dies with the thread that started it. */
static void *build_helper_main(void *argument) {
	struct build_helper *helper = argument;
	struct builder *builder = helper->builder;
	struct worker *worker = worker_twin(builder->worker, &helper->stop);
	pthread_mutex_lock(&builder->mutex);
	for (struct build *build; (build = next_build(builder));) {
		build_begin(helper, build);
		pthread_mutex_unlock(&builder->mutex);
		int failed = builder->work.make(builder->work.ctx, worker, build->key, build->config, build->limit,
		                                &build->built, &build->err);
		pthread_mutex_lock(&builder->mutex);
		builder_record(builder, build, failed);
		pthread_cond_broadcast(&builder->change);
	}
	pthread_mutex_unlock(&builder->mutex);
	worker_free(worker);
	return NULL;
}

static const double SLICE_SECONDS = 0.1; /* interval between checks of the interrupt flag */

struct builder *builder_new(const struct build_work *work, struct worker *worker) {
	struct builder *builder = mem_alloc(1, sizeof *builder);
	pthread_condattr_t monotonic;
	builder->work = *work;
	builder->worker = worker;
	builder->figures.jobs = 1;
	builder->figures.patience_s = INFINITY;
	pthread_mutex_init(&builder->mutex, NULL);
	pthread_cond_init(&builder->wake, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&builder->change, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return builder;
}

static void stop_unwanted(struct builder *builder) {
	for (size_t i = 0; i < builder->count; i++) {
		struct build *build = builder->list[i];
		if (build->state == BUILD_RUNNING && build->helper && build->order == UINT64_MAX)
			__atomic_store_n(&build->helper->stop, 1, __ATOMIC_RELAXED);
	}
}

static void forget_all(struct builder *builder) {
	for (size_t i = 0; i < builder->count; i++) {
		struct build *build = builder->list[i];
		build->order = UINT64_MAX;
		if (build->state == BUILD_WANTED)
			build->state = BUILD_IDLE;
	}
}

static void helpers_end(struct builder *builder) {
	pthread_mutex_lock(&builder->mutex);
	builder->ending = true;
	forget_all(builder);
	stop_unwanted(builder);
	pthread_cond_broadcast(&builder->wake);
	pthread_mutex_unlock(&builder->mutex);
	for (unsigned i = 0; builder->helpers && i < builder->figures.jobs; i++)
		if (builder->helpers[i].started)
			pthread_join(builder->helpers[i].thread, NULL);
}

void builder_free(struct builder *builder) {
	if (!builder)
		return;
	helpers_end(builder);
	for (size_t i = 0; i < builder->count; i++) {
		mem_auto struct build *build = builder->list[i];
		if (builder->work.release)
			builder->work.release(builder->work.ctx, &build->built);
		json_decref(build->config);
		free(build->key);
	}
	free(builder->list);
	free(builder->helpers);
	pthread_cond_destroy(&builder->wake);
	pthread_cond_destroy(&builder->change);
	pthread_mutex_destroy(&builder->mutex);
	free(builder);
}

/* Helpers start with all signals blocked, so that signals reach the caller's thread. */
int builder_help(struct builder *builder, unsigned jobs, bool beside, struct err *err) {
	sigset_t all, before;
	int why = 0;
	if (jobs <= 1 || builder->helpers)
		return 0;
	jobs = jobs < BUILD_JOBS_MAX ? jobs : BUILD_JOBS_MAX;
	json_object_seed(0); /* must happen once, before there are threads */
	builder->helpers = mem_alloc(jobs, sizeof *builder->helpers);
	builder->figures.jobs = jobs;
	builder->figures.beside = beside;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; i < jobs && !why; i++) {
		builder->helpers[i].builder = builder;
		why = pthread_create(&builder->helpers[i].thread, NULL, build_helper_main, &builder->helpers[i]);
		builder->helpers[i].started = !why;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return why ? err_set(err, ERR_FAILED, "ask for fewer --jobs", "cannot start a thread per build: %s", strerror(why))
	           : 0;
}

/* Never removes an entry, so that a helper's stays valid. */
static struct build *build_of(struct builder *builder, const json_t *config) {
	char *key = builder->work.key ? builder->work.key(builder->work.ctx, config) : js_canonical(config);
	for (size_t i = 0; i < builder->count; i++) {
		if (strcmp(builder->list[i]->key, key) == 0) {
			free(key);
			return builder->list[i];
		}
	}
	struct build *build = mem_alloc(1, sizeof *build);
	*build = (struct build){.key = key, .config = json_deep_copy(config), .order = UINT64_MAX};
	builder->list = mem_grow(builder->list, builder->count + 1, sizeof *builder->list);
	return builder->list[builder->count++] = build;
}

static void want(struct build *build, uint64_t order) {
	build->order = order;
	if (build->state == BUILD_IDLE || build->state == BUILD_BROKEN)
		build->state = BUILD_WANTED;
}

/* The list replaces the one before as a whole: the search has learned something since, so what it no longer names is
 * not worth the processors, and a running build of it is stopped. */
void builder_want(struct builder *builder, const json_t *const *configs, size_t count) {
	if (!builder->helpers)
		return;
	pthread_mutex_lock(&builder->mutex);
	forget_all(builder);
	for (size_t i = 0; i < count; i++) {
		struct build *build = build_of(builder, configs[i]);
		if (build->order == UINT64_MAX)
			want(build, i);
	}
	stop_unwanted(builder);
	pthread_cond_broadcast(&builder->wake);
	pthread_mutex_unlock(&builder->mutex);
}

bool builder_leave(struct builder *builder, const json_t *config) {
	pthread_mutex_lock(&builder->mutex);
	struct build *build = build_of(builder, config);
	bool waits = build->state == BUILD_WANTED;
	if (waits) {
		build->state = BUILD_IDLE;
		build->order = UINT64_MAX;
	}
	pthread_mutex_unlock(&builder->mutex);
	return waits;
}

static size_t open_count(const struct builder *builder) {
	size_t count = 0;
	for (size_t i = 0; i < builder->count; i++)
		count += builder->list[i]->state == BUILD_WANTED || builder->list[i]->state == BUILD_RUNNING;
	return count;
}

/* Sleeps until something changes; the mutex is held. */
static void sleep_for(struct builder *builder, double seconds) {
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	double whole = floor(seconds);
	until.tv_sec += (time_t)whole;
	until.tv_nsec += (long)((seconds - whole) * 1e9);
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&builder->change, &builder->mutex, &until);
}

size_t builder_wait(struct builder *builder, double seconds) {
	double begun = sys_now(), left = seconds;
	pthread_mutex_lock(&builder->mutex);
	size_t before = open_count(builder), now = before;
	builder_stop_slow(builder);
	while (now && now == before && left > 0) {
		sleep_for(builder, left);
		now = open_count(builder);
		left = seconds - (sys_now() - begun);
	}
	builder->figures.waited_s += sys_now() - begun;
	pthread_mutex_unlock(&builder->mutex);
	return now;
}

static bool has_ended(const struct build *build) {
	return build->state == BUILD_DONE || build->state == BUILD_BROKEN;
}

bool builder_has(struct builder *builder, const json_t *config) {
	pthread_mutex_lock(&builder->mutex);
	bool ended = has_ended(build_of(builder, config));
	pthread_mutex_unlock(&builder->mutex);
	return ended;
}

void builder_patience(struct builder *builder, double seconds) {
	pthread_mutex_lock(&builder->mutex);
	builder->figures.patience_s = seconds;
	pthread_mutex_unlock(&builder->mutex);
}

bool builder_gave_up(struct builder *builder, const json_t *config) {
	pthread_mutex_lock(&builder->mutex);
	const struct build *build = build_of(builder, config);
	bool gave_up = build->state == BUILD_DONE && build->built.given_up;
	pthread_mutex_unlock(&builder->mutex);
	return gave_up;
}

/* This answer is not kept: the budget was too short for the build, which says nothing about the configuration. */
static const struct built *too_late(struct builder *builder, double left_s) {
	builder->late = (struct built){.status = TRIAL_COMPILE, .seconds = left_s};
	snprintf(builder->late.message, sizeof builder->late.message, "the build did not end within %.3g s", left_s);
	return &builder->late;
}

/* Builds with the caller's own worker. Returns false if the build did not end within left_s. */
static bool build_here(struct builder *builder, struct build *build, double left_s) {
	build->state = BUILD_RUNNING;
	build->begun = sys_now();
	build->limit = builder_limit(builder, left_s);
	builder->figures.running = builder->figures.running_most = 1;
	memset(&build->built, 0, sizeof build->built);
	int failed = builder->work.make(builder->work.ctx, builder->worker, build->key, build->config, build->limit,
	                                &build->built, &build->err);
	builder_record(builder, build, failed);
	builder->figures.waited_s += sys_now() - build->begun;
	if (!build->built.given_up || !(left_s > 0 && left_s <= builder->figures.patience_s))
		return true;
	builder->figures.given_up--;
	build->state = BUILD_IDLE;
	return false;
}

enum awaited { AWAITED, AWAITED_LATE, AWAITED_INTERRUPTED };

static enum awaited build_await(struct builder *builder, struct build *build, double left_s) {
	const volatile int *interrupt = worker_interrupt(builder->worker);
	double begun = sys_now();
	bool stop = false, late = false;
	pthread_mutex_lock(&builder->mutex);
	while (!has_ended(build) && !(stop = interrupt && *interrupt) &&
	       !(late = left_s > 0 && sys_now() - begun >= left_s)) {
		want(build, 0); /* again if it was being stopped just now */
		pthread_cond_signal(&builder->wake);
		sleep_for(builder, left_s > 0 ? fmin(SLICE_SECONDS, left_s) : SLICE_SECONDS);
		builder_stop_slow(builder);
	}
	if (late) {
		build->order = UINT64_MAX;
		build->state = build->state == BUILD_WANTED ? BUILD_IDLE : build->state;
		stop_unwanted(builder);
	}
	builder->figures.waited_s += sys_now() - begun;
	pthread_mutex_unlock(&builder->mutex);
	return stop ? AWAITED_INTERRUPTED : late ? AWAITED_LATE : AWAITED;
}

const struct built *builder_get(struct builder *builder, const json_t *config, double left_s, struct err *err) {
	pthread_mutex_lock(&builder->mutex);
	struct build *build = build_of(builder, config);
	if (build->state == BUILD_BROKEN && !builder->helpers)
		build->state = BUILD_IDLE;
	bool ended = has_ended(build);
	pthread_mutex_unlock(&builder->mutex);
	enum awaited awaited = AWAITED;
	if (!ended)
		awaited = builder->helpers                     ? build_await(builder, build, left_s)
		          : build_here(builder, build, left_s) ? AWAITED
		                                               : AWAITED_LATE;
	if (awaited == AWAITED_LATE)
		return too_late(builder, left_s);
	if (awaited == AWAITED_INTERRUPTED)
		return err_null(err_set(err, ERR_INTERRUPTED, NULL, "interrupted"));
	if (build->state == BUILD_BROKEN) {
		*err = build->err;
		build->state = BUILD_IDLE;
		return NULL;
	}
	builder->figures.last_s = build->built.seconds;
	builder->figures.used_s += build->used ? 0 : build->built.seconds;
	build->used = true;
	return &build->built;
}

struct build_figures builder_figures(struct builder *builder) {
	pthread_mutex_lock(&builder->mutex);
	struct build_figures figures = builder->figures;
	pthread_mutex_unlock(&builder->mutex);
	return figures;
}
