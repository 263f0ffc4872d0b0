/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work for nodes: a configuration until it is done, with what a node needs to measure it. Helpers
 * on this host compile proposals before a node takes them (doc/adr/0011-fleet.md). What they make reaches a node
 * through a cache on disk, so nothing here decides what a configuration is worth: if a build fails, or the node does
 * not see the cache, the node's own worker compiles. */
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
	if (work->opens) {
		work->requests[0].prepare = true;
		work->requests[0].samples = 0;
	}
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

static struct builder *builder_of(const struct parallel *parallel) {
	return parallel->unreached ? NULL : parallel->tune->task->builder;
}

bool parallel_is_building(const struct parallel *parallel) {
	struct builder *builder = builder_of(parallel);
	return builder && builder_figures(builder).jobs > 1;
}

/* Enough to keep all nodes busy during one build, because each proposal more is made with less knowledge. */
static size_t parallel_ahead_depth(const struct parallel *parallel) {
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

/* The index in `asked` of the proposal for an idle node; SIZE_MAX: none, or all are being built. */
static size_t parallel_ahead_pick(const struct parallel *parallel) {
	if (parallel->asked_count == 0 || !parallel_is_building(parallel))
		return parallel->asked_count ? 0 : SIZE_MAX;
	size_t at = built_first(parallel);
	want(parallel);
	/* Where nodes outnumber the helpers, one that waited for these would be slower than one that compiles by itself. */
	if (at == SIZE_MAX && builder_figures(builder_of(parallel)).jobs < parallel->tune->task->pool->count)
		at = unbuilt_last(parallel);
	return at;
}

/* May nodes measure the baseline? Not while it is built for all of them. */
static bool parallel_ahead_baseline(struct parallel *parallel) {
	const json_t *baseline = parallel->tune->task->baseline;
	if (!parallel_is_building(parallel) || parallel->asked_count || builder_has(builder_of(parallel), baseline))
		return true;
	if (!parallel->foreseen)
		tune_ahead_foresee(parallel->tune);
	parallel->foreseen = true;
	return false;
}

/* Meanwhile, each of them opens its device and the input. */
static struct work *opening(struct parallel *parallel, size_t node) {
	if (parallel->opened[node])
		return NULL;
	parallel->opened[node] = true;
	struct work *work = work_new(parallel, UINT64_MAX);
	work->opens = true;
	return work;
}

/* The number of new proposals that the budget allows now. */
static size_t allowed(const struct parallel *parallel) {
	const struct tune *tune = parallel->tune;
	uint64_t limit = tune->money.budget.evaluations;
	uint64_t used = tune->tally.evaluations + parallel->evaluating + parallel->asked_count;
	size_t depth = parallel_ahead_depth(parallel), room = 1 + fleet_idle_count(parallel->fleet) + depth;
	if (parallel->asked_count && parallel->asked_count > depth)
		return 0;
	if (room + parallel->asked_count > WANT_MAX)
		room = WANT_MAX - parallel->asked_count;
	if (limit && used >= limit)
		return 0;
	if (limit && limit - used < room)
		room = (size_t)(limit - used);
	return room;
}

/* Returns how many came. */
static size_t ask(struct parallel *parallel, size_t most) {
	size_t want = parallel->tune->stopped || parallel->exhausted ? 0 : allowed(parallel), came = 0;
	struct tune_ahead *ahead = &parallel->tune->bench.ahead;
	size_t depth = parallel_ahead_depth(parallel);
	if (depth > ahead->depth) /* shown with the result */
		ahead->depth = (unsigned)depth;
	if (want)
		came = search_ask(parallel->tune->search, parallel->asked + parallel->asked_count, want < most ? want : most);
	parallel->asked_count += came;
	parallel->exhausted = parallel->exhausted || (want && parallel->asked_count == 0);
	return came;
}

static uint64_t take(struct parallel *parallel, size_t at) {
	uint64_t index = parallel->asked[at];
	for (parallel->asked_count--; at < parallel->asked_count; at++)
		parallel->asked[at] = parallel->asked[at + 1];
	return index;
}

/* A model takes milliseconds for each proposal: those that are waiting come first, so that no node waits for another
 * one. */
static struct work *proposed(struct parallel *parallel) {
	size_t at = parallel->tune->stopped ? SIZE_MAX : parallel_ahead_pick(parallel);
	if (at == SIZE_MAX) {
		ask(parallel, WANT_MAX);
		at = parallel->tune->stopped ? SIZE_MAX : parallel_ahead_pick(parallel);
	}
	if (at == SIZE_MAX)
		return NULL;
	parallel->evaluating++;
	return work_new(parallel, take(parallel, at));
}

static bool may_ask_ahead(const struct parallel *parallel) {
	return parallel->tune->search && parallel_is_building(parallel) && !fleet_idle_count(parallel->fleet) &&
	       parallel->asked_count <= parallel_ahead_depth(parallel);
}

int work_await(struct parallel *parallel, double seconds, struct pool_done *done, struct err *err) {
	while (may_ask_ahead(parallel)) {
		int rc = fleet_wait(parallel->fleet, 0, done, err);
		if (rc != 0 || fleet_idle_count(parallel->fleet)) /* a node that has come needs work first */
			return rc;
		if (ask(parallel, 1) == 0)
			break;
		want(parallel);
	}
	return fleet_wait(parallel->fleet, seconds, done, err);
}

/* Is there any work left for which the baseline of a node would be needed? */
static bool more(const struct parallel *parallel) {
	const struct tune *tune = parallel->tune;
	if (!tune->search || parallel->queue_count)
		return true;
	if (tune->stopped)
		return false;
	return parallel->asked_count || (!parallel->exhausted && allowed(parallel) > 0);
}

struct work *work_next(struct parallel *parallel, size_t node) {
	bool much = more(parallel), unknown = parallel->recalled && !fleet_usable(parallel->fleet, node);
	if ((much || unknown) && fleet_baseline_due(parallel->fleet, node))
		return parallel_ahead_baseline(parallel) ? work_new(parallel, UINT64_MAX) : opening(parallel, node);
	if (!much || !parallel->tune->search)
		return NULL;
	return parallel->queue_count ? parallel->queue[--parallel->queue_count] : proposed(parallel);
}
