/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <string.h>

#include "src/base/sys.h"
#include "tuner/build/impl.h"

struct build *builder_first(const struct builder *builder) {
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

void builder_record(struct builder *builder, struct build *build, int failed) {
	struct build_figures *figures = &builder->figures;
	double seconds = sys_now() - build->begun;
	if (was_stopped(build, failed)) {
		build->state = BUILD_IDLE;
		figures->stopped++;
	} else {
		build->state = failed ? BUILD_BROKEN : BUILD_DONE;
	}
	if (!failed && !build->built.found && !(build->built.seconds > 0))
		build->built.seconds = seconds;
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
		int failed =
			builder->work.make(builder->work.ctx, worker, build->key, build->config, &build->built, &build->err);
		pthread_mutex_lock(&builder->mutex);
		builder_record(builder, build, failed);
		pthread_cond_broadcast(&builder->change);
	}
	pthread_mutex_unlock(&builder->mutex);
	worker_free(worker);
	return NULL;
}
