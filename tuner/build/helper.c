/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

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

double builder_limit(const struct builder *builder, double left_s) {
	double limit = left_s > 0 ? fmin(builder->figures.patience_s, left_s) : builder->figures.patience_s;
	return isfinite(limit) ? fmax(limit, LEAST_SECONDS) : 0;
}

void builder_stop_slow(struct builder *builder) {
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

void builder_record(struct builder *builder, struct build *build, int failed) {
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
void *build_helper_main(void *argument) {
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
