/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Helpers on this host compile proposals before a node takes them (doc/adr/0011-fleet.md). What they make reaches a
 * node through a cache on disk, so nothing here decides what a configuration is worth: if a build fails, or the node
 * does not see the cache, the node's own worker compiles. */
#include <config.h>

#include <math.h>

#include "src/base/json/js.h"
#include "tuner/tune/parallel/parallel.h"

enum { MISSES_MAX = 4 /* trials that did not find what was built for them, before the first that did */ };

static struct builder *builder_of(const struct parallel *parallel) {
	return parallel->unreached ? NULL : parallel->tune->task->builder;
}

bool parallel_is_building(const struct parallel *parallel) {
	struct builder *builder = builder_of(parallel);
	return builder && builder_figures(builder).jobs > 1;
}

/* Enough to keep all nodes busy during one build, because each proposal more is made with less knowledge. */
size_t parallel_ahead_depth(const struct parallel *parallel) {
	const struct tune *tune = parallel->tune;
	double nodes = (double)tune->task->pool->count;
	if (!parallel_is_building(parallel))
		return 0;
	const struct build_figures figures = builder_figures(builder_of(parallel));
	double ended = (double)(figures.made + figures.found);
	double build = ended > 0 ? figures.spent_s / ended : 0, busy = fleet_seconds(tune->bench.fleet);
	double trial = tune->tally.evaluations && busy > 0 ? busy / (double)tune->tally.evaluations : build;
	double depth = build > 0 && trial > 0 ? nodes * ceil(build / trial) : nodes;
	return (size_t)fmin(fmax(depth, 1), fmin(figures.jobs, TUNE_AHEAD_MAX));
}

static bool is_built(const struct parallel *parallel, uint64_t index) {
	json_t *config = space_config_json(parallel->tune->task->space, index);
	bool built = builder_has(builder_of(parallel), config);
	json_decref(config);
	return built;
}

static bool leave(const struct parallel *parallel, uint64_t index) {
	json_t *config = space_config_json(parallel->tune->task->space, index);
	bool left = builder_leave(builder_of(parallel), config);
	json_decref(config);
	return left;
}

/* Builds that have ended need no helper, and a broken one would begin again. */
static void want(const struct parallel *parallel) {
	struct builder *builder = builder_of(parallel);
	json_t *configs[WANT_MAX];
	size_t count = 0;
	for (size_t i = 0; i < parallel->asked_count; i++) {
		configs[count] = space_config_json(parallel->tune->task->space, parallel->asked[i]);
		if (builder_has(builder, configs[count]))
			json_decref(configs[count]);
		else
			count++;
	}
	tune_ahead_patience(parallel->tune);
	builder_want(builder, (const json_t *const *)configs, count);
	for (size_t i = 0; i < count; i++)
		json_decref(configs[i]);
}

static size_t built_first(const struct parallel *parallel) {
	for (size_t i = 0; i < parallel->asked_count; i++)
		if (is_built(parallel, parallel->asked[i]))
			return i;
	return SIZE_MAX;
}

/* The least urgent one that no helper has begun. */
static size_t unbuilt_last(const struct parallel *parallel) {
	for (size_t i = parallel->asked_count; i-- > 0;)
		if (leave(parallel, parallel->asked[i]))
			return i;
	return SIZE_MAX;
}

size_t parallel_ahead_pick(const struct parallel *parallel) {
	if (parallel->asked_count == 0 || !parallel_is_building(parallel))
		return parallel->asked_count ? 0 : SIZE_MAX;
	size_t at = built_first(parallel);
	want(parallel);
	/* Where nodes outnumber the helpers, one that waited for these would be slower than one that compiles by itself. */
	if (at == SIZE_MAX && builder_figures(builder_of(parallel)).jobs < parallel->tune->task->pool->count)
		at = unbuilt_last(parallel);
	return at;
}

bool parallel_ahead_baseline(const struct parallel *parallel) {
	const json_t *baseline = parallel->tune->task->baseline;
	if (!parallel_is_building(parallel) || parallel->asked_count || builder_has(builder_of(parallel), baseline))
		return true;
	builder_want(builder_of(parallel), &baseline, 1);
	return false;
}

static void give_up(struct parallel *parallel) {
	const struct tune_observer *observer = parallel->tune->observer;
	tune_ahead_end(parallel->tune);
	parallel->unreached = true;
	if (observer && observer->warn)
		observer->warn(observer->ctx, "no node finds what is compiled ahead, so each of them compiles for itself");
}

void parallel_ahead_learn(struct parallel *parallel, const json_t *config, const struct trial_result *result) {
	const json_t *gpu = json_object_get(result->reply, "gpu");
	if (!gpu || !parallel_is_building(parallel) || !builder_has(builder_of(parallel), config))
		return;
	if (!(js_real_or(gpu, "compile_s", 0) > 0))
		parallel->reached++;
	else if (parallel->reached == 0 && ++parallel->missed == MISSES_MAX)
		give_up(parallel);
}
