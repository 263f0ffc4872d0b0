/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/fleet/simulated.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tests/tuner/fleet/event_heap.h"

enum kind { EVENT_READY, EVENT_END, EVENT_FAIL };

struct virtual_node {
	struct simulated_node is;
	struct rng rng;
	enum pool_state state;
	char name[32];
	uint64_t epoch; /* number of its job, which makes the ends of earlier ones stale */
	const struct pool_job *job;
	struct trial_result *results;
	size_t result_count;
	double begun;
};

struct simulated {
	struct pool pool;
	struct simulated_options options;
	struct virtual_node *nodes;
	struct event_heap heap;
	struct simulated_tally tally;
	struct pool_meter meter;
	size_t busy, lost;
	double now, left; /* left: the caller's clock when it got its last answer */
	bool changed;     /* the state of a node changed and nobody was told yet */
};

static void schedule(struct simulated *sim, size_t node, enum kind kind, double after) {
	event_add(&sim->heap,
	          (struct event){.time = sim->now + after, .node = node, .kind = kind, .epoch = sim->nodes[node].epoch});
}

static double caller_seconds(const struct simulated *sim) {
	return sim->options.clock ? fmax(0, sim->options.clock() - sim->left) : 0;
}

static double now(void *ctx) {
	const struct simulated *sim = ctx;
	return sim->now + caller_seconds(sim);
}

static const char *name(void *ctx, size_t node) {
	const struct simulated *sim = ctx;
	return sim->nodes[node].name;
}

static struct pool_held held(void *ctx) {
	const struct simulated *sim = ctx;
	return pool_meter_read(&sim->meter, now(ctx));
}

static void state_set(struct simulated *sim, struct virtual_node *node, enum pool_state state) {
	if (pool_state_held(node->state) != pool_state_held(state))
		pool_meter_change(&sim->meter, sim->now, pool_state_held(state));
	node->state = state;
}

static enum pool_state state(void *ctx, size_t node) {
	const struct simulated *sim = ctx;
	return sim->nodes[node].state;
}

static void samples_draw(struct virtual_node *node, const struct trial_request *request, double run,
                         struct trial_result *result) {
	size_t want = request->samples > 0 ? (size_t)request->samples : 1;
	result->samples = mem_alloc(want, sizeof *result->samples);
	while (result->sample_count < want) {
		double sample = run * exp(node->is.noise * rng_normal(&node->rng));
		result->samples[result->sample_count++] = sample;
		result->elapsed_s += sample;
		if (request->limit_s > 0 && sample > 3 * request->limit_s)
			break;
	}
	result->least = stats_min(result->samples, result->sample_count);
	result->value = stats_median(result->samples, result->sample_count);
}

/* Ends a trial after its time-out, or when the time that is left for it is over. */
static void cut(struct trial_result *result, double timeout, double left) {
	left = timeout > 0 ? fmin(left, timeout) : left;
	if (!(result->elapsed_s > left))
		return;
	trial_result_clear(result);
	*result = (struct trial_result){.status = TRIAL_TIMEOUT, .value = NAN, .least = NAN, .elapsed_s = left};
}

static void lie(struct trial_result *result, double factor) {
	json_t *samples = json_array();
	for (size_t i = 0; i < result->sample_count; i++) {
		result->samples[i] *= factor;
		json_array_append_new(samples, json_real(result->samples[i]));
	}
	result->value *= factor;
	result->least *= factor;
	result->reply = json_pack("{s:o}", "samples", samples);
}

static void trial_run(const struct simulated *sim, struct virtual_node *node, const struct trial_request *request,
                      double at, struct trial_result *result) {
	double run = sim->options.seconds(sim->options.ctx, request->config) / node->is.speed;
	bool throttled = node->is.throttle > 0 && at >= node->is.throttle_at;
	*result = (struct trial_result){.value = NAN, .least = NAN, .elapsed_s = sim->options.trial_s};
	if (!(run > 0) || !isfinite(run)) {
		result->status = run < 0 ? TRIAL_CORRECTNESS : TRIAL_RUNTIME;
		snprintf(result->message, sizeof result->message, "the model says that it %s", run < 0 ? "is wrong" : "fails");
		return;
	}
	samples_draw(node, request, throttled ? run * node->is.throttle : run, result);
	if (sim->options.says)
		lie(result, sim->options.says(sim->options.ctx, (size_t)(node - sim->nodes), request->config));
	if (request->limit_s > 0 && result->value > request->limit_s) {
		result->status = TRIAL_CENSORED;
		result->value = request->limit_s;
	}
}

static int submit(void *ctx, size_t at, const struct pool_job *job, struct err *err) {
	struct simulated *sim = ctx;
	struct virtual_node *node = &sim->nodes[at];
	if (at >= sim->pool.count || node->state != POOL_IDLE || job->count == 0)
		return err_set(err, ERR_FAILED, NULL, "node %zu is not idle, or its job is empty", at);
	sim->now += caller_seconds(sim);
	sim->left = sim->options.clock ? sim->options.clock() : 0;
	double seconds = 0;
	node->results = mem_alloc(job->count, sizeof *node->results);
	node->result_count = job->count;
	for (size_t i = 0; i < job->count; i++) {
		double left = job->requests[i].left_s > 0 ? job->requests[i].left_s - seconds : INFINITY;
		if (i > 0 && left <= 0) {
			node->result_count = i;
			break;
		}
		trial_run(sim, node, &job->requests[i], sim->now + seconds, &node->results[i]);
		cut(&node->results[i], job->requests[i].timeout_s, left);
		seconds += node->results[i].elapsed_s;
	}
	node->job = job;
	node->begun = sim->now;
	state_set(sim, node, POOL_BUSY);
	node->epoch++;
	sim->busy++;
	sim->tally.jobs++;
	schedule(sim, at, EVENT_END, seconds);
	return 0;
}

/* Hands the job back with the results that were complete by now. */
static void job_end(struct simulated *sim, size_t at, double time, struct pool_done *done) {
	struct virtual_node *node = &sim->nodes[at];
	double end = node->begun;
	*done = (struct pool_done){.node = at, .job = node->job, .results = node->results};
	while (done->done < node->result_count && (end += node->results[done->done].elapsed_s) <= time * (1 + 1e-15))
		done->done++;
	sim->tally.trials += done->done;
	sim->tally.busy_s += time - node->begun;
	sim->busy--;
	node->job = NULL;
	node->results = NULL;
	node->epoch++;
}

static void fail_schedule(struct simulated *sim, size_t at) {
	struct virtual_node *node = &sim->nodes[at];
	if (node->is.fail_every_s > 0)
		schedule(sim, at, EVENT_FAIL, -log1p(-rng_unit(&node->rng)) * node->is.fail_every_s);
}

static void fail(struct simulated *sim, size_t at) {
	struct virtual_node *node = &sim->nodes[at];
	bool back = node->is.away_s > 0;
	state_set(sim, node, back ? POOL_QUEUED : POOL_LOST);
	sim->lost += !back;
	if (back)
		schedule(sim, at, EVENT_READY, node->is.away_s);
}

/* Returns true if a job ended. */
static bool event_handle(struct simulated *sim, const struct event *event, struct pool_done *done) {
	struct virtual_node *node = &sim->nodes[event->node];
	bool busy = node->state == POOL_BUSY;
	switch ((enum kind)event->kind) {
	case EVENT_READY:
		state_set(sim, node, POOL_IDLE);
		fail_schedule(sim, event->node);
		break;
	case EVENT_END:
		if (!busy || event->epoch != node->epoch)
			return false;
		state_set(sim, node, POOL_IDLE);
		job_end(sim, event->node, event->time, done);
		done->done = node->result_count;
		return true;
	case EVENT_FAIL:
		fail(sim, event->node);
		if (busy) {
			job_end(sim, event->node, event->time, done);
			snprintf(done->reason, sizeof done->reason, "node failure (simulated)");
			done->lost = done->reason;
			done->outside = true;
			sim->tally.lost++;
			return true;
		}
		break;
	}
	sim->changed = true;
	return false;
}

static bool interrupted(const struct simulated *sim) {
	return sim->options.interrupt && *sim->options.interrupt;
}

/* Handles events up to the deadline. Returns 1 if a job ended, 0 otherwise. */
static int events_handle(struct simulated *sim, double deadline, struct pool_done *done) {
	struct event event;
	while (event_first(&sim->heap, &event)) {
		if (sim->changed && event.time > sim->now)
			break;
		if (event.time > deadline)
			break;
		event_drop(&sim->heap);
		sim->now = fmax(sim->now, event.time);
		if (event_handle(sim, &event, done))
			return 1;
	}
	if (!sim->changed && isfinite(deadline))
		sim->now = fmax(sim->now, deadline);
	sim->changed = false;
	return 0;
}

static int wait(void *ctx, double seconds, struct pool_done *done, struct err *err) {
	struct simulated *sim = ctx;
	struct event next;
	int rc;
	sim->now += caller_seconds(sim);
	if (interrupted(sim) && sim->busy == 0)
		rc = err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	else if (sim->busy == 0 && sim->lost == sim->pool.count)
		rc = err_set(err, ERR_FAILED, NULL, "all %zu nodes are lost", sim->pool.count);
	else if (seconds < 0 && !sim->changed && !event_first(&sim->heap, &next))
		rc = err_set(err, ERR_FAILED, NULL, "all nodes are idle, so that no job can end");
	else
		rc = events_handle(sim, seconds < 0 ? INFINITY : sim->now + seconds, done);
	sim->left = sim->options.clock ? sim->options.clock() : 0;
	return rc;
}

static void node_init(struct simulated *sim, size_t at) {
	struct virtual_node *node = &sim->nodes[at];
	snprintf(node->name, sizeof node->name, "node%05zu", at + 1);
	rng_split(&node->rng, sim->options.seed, node->name);
	node->is.speed = 1;
	if (sim->options.node)
		sim->options.node(sim->options.ctx, at, &node->rng, &node->is);
	state_set(sim, node, node->is.queue_s > 0 ? POOL_QUEUED : POOL_IDLE);
	if (node->state == POOL_QUEUED)
		schedule(sim, at, EVENT_READY, node->is.queue_s);
	else
		fail_schedule(sim, at);
}

struct pool *pool_simulated_new(const struct simulated_options *options) {
	struct simulated *sim = mem_alloc(1, sizeof *sim);
	sim->options = *options;
	sim->nodes = mem_alloc(options->count, sizeof *sim->nodes);
	sim->pool = (struct pool){.ctx = sim,
	                          .count = options->count,
	                          .name = name,
	                          .state = state,
	                          .submit = submit,
	                          .wait = wait,
	                          .now = now,
	                          .held = held};
	sim->left = options->clock ? options->clock() : 0;
	for (size_t i = 0; i < options->count; i++)
		node_init(sim, i);
	return &sim->pool;
}

void pool_simulated_free(struct pool *pool) {
	struct simulated *sim = pool ? pool->ctx : NULL;
	if (!sim)
		return;
	for (size_t i = 0; i < pool->count; i++) { /* jobs that nobody waited for; their requests may be gone */
		struct virtual_node *node = &sim->nodes[i];
		for (size_t r = 0; node->results && r < node->result_count; r++)
			trial_result_clear(&node->results[r]);
		free(node->results);
	}
	free(sim->nodes);
	free(sim->heap.events);
	free(sim);
}

struct simulated_tally pool_simulated_tally(const struct pool *pool) {
	return ((const struct simulated *)pool->ctx)->tally;
}
