/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The baseline quarantines a slow node among many and a throttled one, but neither nodes of another kind, nor noisy
 * ones, nor the last one. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/fleet/fleet.h"

struct still { /* a pool in which only time passes */
	double now;
	enum pool_state state[64];
};

static const char *name(void *ctx, size_t node) {
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	(void)ctx;
	return names[node % 8];
}

static enum pool_state state(void *ctx, size_t node) {
	return ((struct still *)ctx)->state[node];
}

static double now(void *ctx) {
	return ((struct still *)ctx)->now;
}

static struct pool_held held(void *ctx) {
	(void)ctx;
	return (struct pool_held){0};
}

static struct pool pool_of(struct still *still, size_t count) {
	for (size_t i = 0; i < 64; i++)
		still->state[i] = POOL_IDLE;
	return (struct pool){.ctx = still, .count = count, .name = name, .state = state, .now = now, .held = held};
}

static size_t quarantined_count(struct fleet *fleet, size_t count) {
	size_t quarantined = 0;
	for (size_t i = 0; i < count; i++)
		quarantined += fleet_is_quarantined(fleet, i);
	return quarantined;
}

/* Records one baseline per node; returns how many nodes are quarantined. */
static size_t quarantined_of(const double *values, size_t count) {
	struct still still = {0};
	struct pool pool = pool_of(&still, count);
	struct fleet *fleet = fleet_new(&pool);
	for (size_t i = 0; i < count; i++)
		fleet_baseline_record(fleet, i, values[i], 1, "");
	size_t quarantined = quarantined_count(fleet, count);
	fleet_free(fleet);
	return quarantined;
}

static void slow(void) {
	const double one[] = {1, 1.01, 0.99, 1.5}, pair[] = {1, 1.6}, three[] = {1, 1.02, 1.6}, kinds[] = {1, 1, 1, 2, 2},
				 noise[] = {1, 1.05, 0.97, 1.1, 0.93, 1.02}, fast[] = {1, 1, 1, 0.5};
	ok(quarantined_of(one, 4) == 1, "one of four is half as slow again: set aside");
	ok(quarantined_of(pair, 2) == 0, "nobody knows which of two nodes is wrong");
	ok(quarantined_of(three, 3) == 1, "one of three nodes can be set aside");
	ok(quarantined_of(kinds, 5) == 0, "two of five are another kind of node and not outliers");
	ok(quarantined_of(noise, 6) == 0, "noise does not count");
	ok(quarantined_of(fast, 4) == 0, "a fast node is not set aside");
}

static void many(void) {
	double values[64];
	struct rng rng;
	size_t quarantined = 0;
	for (uint64_t seed = 0; seed < 50; seed++) {
		rng_seed(&rng, seed);
		for (int i = 0; i < 64; i++)
			values[i] = exp(0.03 * rng_normal(&rng));
		quarantined += quarantined_of(values, 64);
	}
	ok(quarantined <= 3, "%zu of 3200 nodes are set aside although none is slow", quarantined);
}

static void drift(void) {
	struct still still = {0};
	struct pool pool = pool_of(&still, 2);
	struct fleet *fleet = fleet_new(&pool);
	ok(fleet_baseline_due(fleet, 0), "a node begins with the baseline");
	ok(fleet_baseline_record(fleet, 0, 1, 1, "") == FLEET_GOOD && !fleet_baseline_due(fleet, 0),
	   "a node goes on after the baseline");
	fleet_baseline_record(fleet, 1, 2, 1, "");
	ok(fabs(fleet_scale(fleet, 1) - 0.5) < 1e-12, "values of a node that is half as fast count half");
	still.now = 1000;
	ok(fleet_baseline_due(fleet, 0), "the baseline is repeated after a while");
	ok(fleet_baseline_record(fleet, 0, 1.4, 1, "") == FLEET_AGAIN, "a suspicious baseline is repeated");
	ok(fleet_baseline_record(fleet, 0, 1, 1, "") == FLEET_GOOD,
	   "a suspicious baseline is forgotten if it was a momentary disturbance");
	fleet_baseline_record(fleet, 0, 1.4, 1, "");
	ok(fleet_baseline_record(fleet, 0, 1.4, 1, "") == FLEET_QUARANTINED, "twice in a row means throttled: set aside");
	fleet_baseline_record(fleet, 1, 3, 1, "");
	ok(fleet_baseline_record(fleet, 1, 3, 1, "") == FLEET_DRIFTED, "the last node stays, with its new speed");
	ok(fabs(fleet_scale(fleet, 1) - 1.0 / 3) < 1e-12, "the new speed is %g of the reference", fleet_scale(fleet, 1));
	ok(fleet_quarantined_next(fleet) == 0 && fleet_quarantined_next(fleet) == SIZE_MAX,
	   "a node that was set aside is reported once");
	json_t *nodes = fleet_json(fleet), *first = json_array_get(nodes, 0);
	ok(strcmp(js_string_or(first, "state", ""), "set aside") == 0 &&
	       strstr(js_string_or(first, "reason", ""), "throttled"),
	   "the result says why a node was set aside: %s", js_string_or(first, "reason", "?"));
	json_decref(nodes);
	fleet_free(fleet);
}

static void places(void) {
	struct still still = {0};
	struct pool pool = pool_of(&still, 3);
	still.state[1] = POOL_QUEUED;
	struct fleet *fleet = fleet_new(&pool);
	ok(fleet_idle_count(fleet) == 2, "a node that queues is not idle");
	ok(fleet_idle_take(fleet) == 0, "the first node is used first");
	still.state[2] = POOL_LOST;
	ok(fleet_idle_take(fleet) == SIZE_MAX && fleet_alive(fleet) == 2, "a lost node is noticed");
	fleet_free(fleet);
}

int main(void) {
	slow();
	many();
	drift();
	places();
	return tap_done();
}
