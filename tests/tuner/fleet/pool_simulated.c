/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Virtual nodes honour the contract of struct pool: every job comes back once, done or lost, at the right time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tests/tuner/fleet/event_heap.h"
#include "tests/tuner/fleet/simulated.h"

enum { NODES = 50, JOBS = 2000, REQUESTS = 3 };

static double seconds(void *ctx, const json_t *config) {
	(void)ctx;
	return json_number_value(json_object_get(config, "s"));
}

static void fast_and_slow(void *ctx, size_t node, struct rng *rng, struct simulated_node *out) {
	(void)ctx, (void)rng;
	out->speed = node == 0 ? 2 : 1;
	out->queue_s = node == 2 ? 5 : 0;
	out->throttle = node == 1 ? 3 : 0;
	out->throttle_at = 10;
}

static void failing(void *ctx, size_t node, struct rng *rng, struct simulated_node *out) {
	(void)ctx;
	out->speed = exp(0.2 * rng_normal(rng));
	out->noise = 0.05;
	out->queue_s = (double)(node % 7);
	out->fail_every_s = 40;
	out->away_s = node % 10 == 0 ? 0 : 20;
}

static double run_one(struct pool *pool, size_t node, double s, double *took) {
	json_t *config = json_pack("{s:f}", "s", s);
	const struct trial_request request = {.config = config, .samples = 1};
	const struct pool_job job = {.requests = &request, .count = 1};
	struct pool_done done = {0};
	struct err err = {0};
	double begun = pool->now(pool->ctx), value = NAN;
	while (pool->state(pool->ctx, node) != POOL_IDLE)
		if (pool->wait(pool->ctx, -1, &done, &err) < 0)
			break;
	if (pool->submit(pool->ctx, node, &job, &err) == 0) {
		while (pool->wait(pool->ctx, -1, &done, &err) == 0)
			;
		value = done.done ? done.results[0].value : NAN;
		pool_done_clear(&done);
	}
	*took = pool->now(pool->ctx) - begun;
	json_decref(config);
	return value;
}

static void times(void) {
	struct pool *pool = pool_simulated_new(
		&(struct simulated_options){.count = 3, .node = fast_and_slow, .seconds = seconds, .trial_s = 1});
	double took, value = run_one(pool, 0, 4, &took);
	ok(value == 2 && fabs(took - 3) < 1e-12, "twice as fast: half the time, plus the fixed cost: %g, %g s", value,
	   took);
	value = run_one(pool, 1, 1, &took);
	ok(value == 1 && fabs(took - 2) < 1e-12, "a node before it is throttled: %g, %g s", value, took);
	value = run_one(pool, 2, 1, &took);
	ok(value == 1 && fabs(pool->now(pool->ctx) - 7) < 1e-12, "a node that queued for 5 s began then: it is %g s",
	   pool->now(pool->ctx));
	run_one(pool, 0, 8, &took);
	value = run_one(pool, 1, 1, &took);
	ok(value == 3, "a throttled node is slower: %g", value);
	value = run_one(pool, 0, -1, &took);
	ok(isnan(value), "a broken configuration is a failure");
	struct pool_done done;
	struct err err = {0};
	ok(pool->wait(pool->ctx, 2.5, &done, &err) == 0, "waiting with a limit ends");
	ok(pool->wait(pool->ctx, -1, &done, &err) < 0 && *err.what, "waiting for nothing without a limit is an error");
	pool_simulated_free(pool);
}

struct all {
	struct trial_request requests[REQUESTS];
	struct pool_job jobs[JOBS];
	int ended[JOBS], lost[JOBS];
	size_t begun, done, lost_count, order[JOBS];
	bool partial;
};

/* Submits as many jobs as there is room for. */
static void hand_out(struct all *all, struct pool *pool) {
	struct err err = {0};
	for (size_t n = 0; n < NODES && all->begun < JOBS; n++)
		if (pool->state(pool->ctx, n) == POOL_IDLE && pool->submit(pool->ctx, n, &all->jobs[all->begun], &err) == 0)
			all->begun++;
}

static struct all *play(uint64_t seed) {
	struct all *all = mem_alloc(1, sizeof *all);
	struct pool *pool = pool_simulated_new(
		&(struct simulated_options){.count = NODES, .seed = seed, .node = failing, .seconds = seconds, .trial_s = 0.1});
	json_t *config = json_pack("{s:f}", "s", 1.0);
	struct err err = {0};
	for (int i = 0; i < REQUESTS; i++)
		all->requests[i] = (struct trial_request){.config = config, .samples = 2};
	for (size_t i = 0; i < JOBS; i++)
		all->jobs[i] = (struct pool_job){all->requests, REQUESTS, NULL};
	for (int rc = 0; rc >= 0 && all->done < JOBS;) {
		struct pool_done done = {0};
		hand_out(all, pool);
		rc = pool->wait(pool->ctx, -1, &done, &err);
		if (rc != 1)
			continue;
		size_t job = (size_t)(done.job - all->jobs);
		all->ended[job]++;
		all->lost[job] += done.lost != NULL;
		all->partial |= done.lost && done.done > 0 && done.done < REQUESTS;
		all->lost_count += done.lost != NULL;
		all->order[all->done++] = job;
		pool_done_clear(&done);
	}
	struct simulated_tally tally = pool_simulated_tally(pool);
	ok(tally.lost == all->lost_count && tally.jobs == all->begun, "the pool's tally agrees");
	pool_simulated_free(pool);
	json_decref(config);
	return all;
}

static void failures(void) {
	struct all *one = play(3), *two = play(3), *other = play(4);
	bool once = true;
	for (size_t i = 0; i < one->begun; i++)
		once = once && one->ended[i] == 1;
	ok(one->done == JOBS && once, "%zu jobs come back, each once", one->done);
	ok(one->lost_count > 20 && one->lost_count < JOBS / 2, "%zu of them lost with their node", one->lost_count);
	ok(one->partial, "some with part of their results");
	ok(memcmp(one->order, two->order, sizeof one->order) == 0, "the same seed gives the same order");
	ok(memcmp(one->order, other->order, sizeof one->order) != 0, "another seed gives another order");
	free(one);
	free(two);
	free(other);
}

static void dying(void *ctx, size_t node, struct rng *rng, struct simulated_node *out) {
	(void)ctx, (void)node, (void)rng;
	out->fail_every_s = 1;
}

static void all_lost(void) {
	struct pool *pool = pool_simulated_new(&(struct simulated_options){.count = 4, .node = dying, .seconds = seconds});
	struct pool_done done;
	struct err err = {0};
	int rc;
	while ((rc = pool->wait(pool->ctx, -1, &done, &err)) == 0)
		;
	ok(rc < 0 && err.code == ERR_FAILED && strstr(err.what, "lost"), "all nodes lost for good is an error: %s",
	   err.what);
	ok(pool->state(pool->ctx, 0) == POOL_LOST, "nodes that are lost for good have that state");
	pool_simulated_free(pool);
}

static void heap(void) {
	struct event_heap heap = {0};
	struct event event;
	struct rng rng;
	bool ordered = true;
	double last = -1;
	uint64_t number = 0;
	rng_seed(&rng, 1);
	for (int i = 0; i < 5000; i++) {
		event_add(&heap, (struct event){.time = (double)rng_below(&rng, 100) + last});
		if (i % 3)
			continue;
		event_first(&heap, &event);
		event_drop(&heap);
		ordered &= event.time >= last && (event.time > last || event.number > number);
		last = event.time;
		number = event.number;
	}
	ok(ordered, "events come by time, then in the order of their insertion");
	free(heap.events);
}

int main(void) {
	heap();
	times();
	failures();
	all_lost();
	return tap_done();
}
