/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work for nodes: a configuration until it is done, with what a node needs to measure it. A node that was away measures
 * the baseline before its next block of the finals, because without it no result of the node is on the scale of the
 * others. Helpers on this host compile proposals before a node takes them (doc/adr/0011-fleet.md). What they make
 * reaches a node through a cache on disk, so nothing here decides what a configuration is worth: if a build fails, or
 * the node does not see the cache, the node's own worker compiles. */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/nodes_impl.h"

struct work *work_new(const struct parallel *parallel, uint64_t index) {
	const struct tune_task *task = parallel->tune->task;
	struct work *work = mem_alloc(1, sizeof *work);
	work->baseline = index == UINT64_MAX;
	work->index = index;
	work->config = work->baseline ? json_incref((json_t *)task->baseline) : space_config_json(task->space, index);
	work->sum.value = work->sum.least = NAN;
	work->job = (struct pool_job){.requests = work->requests, .count = 1, .tag = work};
	return work;
}

void work_free(struct work *work) {
	if (!work)
		return;
	trial_result_clear(&work->sum);
	json_decref(work->config);
	free(work);
}

void work_queue(struct parallel *parallel, struct work *work) {
	parallel->queue = mem_room(parallel->queue, parallel->queue_count, &parallel->queue_room, sizeof(struct work *));
	parallel->queue[parallel->queue_count++] = work;
}

/* Sets the requests for this node. */
static void work_prepare(const struct parallel *parallel, struct work *work, size_t node) {
	const struct tune *tune = parallel->tune;
	double limit = work->baseline ? 0 : tune_search_limit(tune) / fleet_scale(parallel->fleet, node);
	work->requests[0] = tune_search_request(tune, work->config, limit);
	work->job.count = 1;
	if (work->confirm) {
		work->requests[0].limit_s = 0;
		if (tune->memory.baseline.status == TRIAL_CORRECT)
			work->requests[work->job.count++] = tune_search_request(tune, tune->task->baseline, 0);
	}
	for (size_t i = 0; i < work->job.count; i++)
		tune_limit(tune, &work->requests[i]);
}

int work_submit(struct parallel *parallel, struct work *work, size_t node, struct err *err) {
	work_prepare(parallel, work, node);
	int rc = fleet_submit(parallel->fleet, node, &work->job, err);
	if (rc != 1)
		return rc;
	work->at = parallel->flying_count;
	parallel->flying[parallel->flying_count++] = work;
	return 1;
}

void work_scale(const struct parallel *parallel, size_t node, struct trial_result *result) {
	double scale = fleet_scale(parallel->fleet, node);
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] *= scale;
	result->value *= scale;
	result->least *= scale;
	if (!result->reply)
		result->reply = json_object();
	if (!json_object_get(result->reply, "node"))
		json_object_set_new(result->reply, "node", json_string(fleet_name(parallel->fleet, node)));
	json_object_set_new(result->reply, "node_scale", json_real(scale));
}

/* The first run of a program on a node finds its files uncached; longer programs are hardly affected. */
static const double COLD_SECONDS = 1;
struct lead_job {
	struct pool_job job;
	size_t lead; /* trials before those of the block */
	struct trial_request requests[];
};

static size_t lead_of(const struct tune *tune, size_t node) {
	if (!fleet_baseline_missing(tune->bench.fleet, node))
		return 0;
	return tune->task->whole_programs && tune->memory.baseline.value <= COLD_SECONDS ? 2 : 1;
}

struct pool_job *lead_job_new(const struct tune *tune, size_t node, struct block *block) {
	size_t lead = lead_of(tune, node), count = lead + block->count;
	struct lead_job *job = mem_alloc(1, sizeof *job + count * sizeof *job->requests);
	job->lead = lead;
	job->job = (struct pool_job){.requests = job->requests, .count = count, .tag = block};
	for (size_t i = 0; i < count; i++)
		job->requests[i] = i < lead ? tune_search_request(tune, tune->task->baseline, 0) : block->requests[i - lead];
	for (size_t i = 0; i < lead; i++)
		tune_limit(tune, &job->requests[i]);
	return &job->job;
}

ptrdiff_t lead_record(struct tune *tune, const struct pool_done *done, struct err *err) {
	const struct lead_job *job = (const struct lead_job *)done->job;
	size_t count = done->done < job->lead ? done->done : job->lead;
	for (size_t i = 0; i < count; i++) {
		struct trial_result *one = &done->results[i];
		work_scale(tune->bench.parallel, done->node, one);
		if (trial_store(tune->task->store, tune->memory.id, "node", 0, tune->task->baseline, one, err))
			return -1;
		if (i + 1 == job->lead)
			parallel_node_judge(tune->bench.parallel, done->node, one);
	}
	return (ptrdiff_t)count;
}

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
	js_auto json_t *config = space_config_json(parallel->tune->task->space, index);
	return builder_has(builder_of(parallel), config);
}

static bool leave(const struct parallel *parallel, uint64_t index) {
	js_auto json_t *config = space_config_json(parallel->tune->task->space, index);
	return builder_leave(builder_of(parallel), config);
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
