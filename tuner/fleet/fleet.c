/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/fleet/fleet_impl.h"

static enum pool_state state_of(const struct fleet *fleet, size_t node) {
	return fleet->pool->state(fleet->pool->ctx, node);
}

static double now(const struct fleet *fleet) {
	return fleet->pool->now(fleet->pool->ctx);
}

static void idle_add(struct fleet *fleet, size_t at) {
	fleet->nodes[at].state = NODE_IDLE;
	fleet->idle[fleet->idle_count++] = at;
}

static void lose(struct fleet *fleet, size_t at) {
	struct node *node = &fleet->nodes[at];
	node->state = NODE_LOST;
	if (!*node->reason)
		snprintf(node->reason, sizeof node->reason, "it went away");
	fleet->lost++;
}

/* Sets the state of a node that has nothing to do. */
static void settle(struct fleet *fleet, size_t at) {
	struct node *node = &fleet->nodes[at];
	enum pool_state state = state_of(fleet, at);
	if (node->quarantined) {
		node->state = NODE_QUARANTINED;
	} else if (state == POOL_LOST) {
		lose(fleet, at);
	} else if (state == POOL_QUEUED) {
		node->state = NODE_AWAY;
		node->returned = true;
		fleet->away[fleet->away_count++] = at;
	} else {
		idle_add(fleet, at);
	}
}

/* Looks at the nodes that were away: they may be back, or lost for good. */
static void returned_find(struct fleet *fleet) {
	size_t count = fleet->away_count;
	fleet->away_count = 0;
	for (size_t i = 0; i < count; i++)
		settle(fleet, fleet->away[i]);
}

struct fleet *fleet_new(struct pool *pool) {
	struct fleet *fleet = mem_alloc(1, sizeof *fleet);
	fleet->pool = pool;
	fleet->reference = NAN;
	fleet->held_before = pool->held(pool->ctx).seconds;
	fleet->nodes = mem_alloc(pool->count, sizeof *fleet->nodes);
	fleet->idle = mem_alloc(pool->count, sizeof *fleet->idle);
	fleet->away = mem_alloc(pool->count, sizeof *fleet->away);
	fleet->quarantined = mem_alloc(pool->count, sizeof *fleet->quarantined);
	fleet->logs = mem_alloc(pool->count, sizeof *fleet->logs);
	for (size_t i = pool->count; i-- > 0;) { /* a stack: node 0 is used first */
		fleet->nodes[i].base = NAN;
		settle(fleet, i);
	}
	return fleet;
}

void fleet_free(struct fleet *fleet) {
	if (!fleet)
		return;
	free(fleet->nodes);
	free(fleet->idle);
	free(fleet->away);
	free(fleet->quarantined);
	free(fleet->logs);
	free(fleet);
}

size_t fleet_idle_count(const struct fleet *fleet) {
	return fleet->idle_count;
}

size_t fleet_idle_take(struct fleet *fleet) {
	while (fleet->idle_count) {
		size_t at = fleet->idle[--fleet->idle_count];
		fleet->nodes[at].state = NODE_TAKEN;
		if (!fleet->nodes[at].quarantined && state_of(fleet, at) == POOL_IDLE)
			return at;
		settle(fleet, at);
	}
	return SIZE_MAX;
}

void fleet_idle_put(struct fleet *fleet, size_t node) {
	idle_add(fleet, node);
}

int fleet_submit(struct fleet *fleet, size_t node, const struct pool_job *job, struct err *err) {
	struct err bad = {0};
	if (fleet->pool->submit(fleet->pool->ctx, node, job, &bad) == 0) {
		fleet->nodes[node].state = NODE_BUSY;
		fleet->nodes[node].begun = now(fleet);
		fleet->busy++;
		return 1;
	}
	if (bad.code == ERR_INTERRUPTED || state_of(fleet, node) == POOL_IDLE) {
		*err = bad;
		return -1;
	}
	settle(fleet, node);
	return 0;
}

size_t fleet_busy(const struct fleet *fleet) {
	return fleet->busy;
}

int fleet_wait(struct fleet *fleet, double seconds, struct pool_done *done, struct err *err) {
	int rc = fleet->pool->wait(fleet->pool->ctx, seconds, done, err);
	if (rc < 0)
		fleet->busy = 0; /* the pool has dropped all jobs */
	if (rc == 0)
		returned_find(fleet);
	if (rc != 1)
		return rc;
	struct node *node = &fleet->nodes[done->node];
	fleet->busy--;
	fleet->seconds += now(fleet) - node->begun;
	fleet->jobs++;
	if (done->lost) {
		node->returned = true;
		snprintf(node->reason, sizeof node->reason, "%s", done->reason);
	}
	if (done->lies)
		fleet_distrust(fleet, done->node, done->reason);
	settle(fleet, done->node);
	return 1;
}

double fleet_scale(const struct fleet *fleet, size_t node) {
	double base = fleet->nodes[node].base;
	return !fleet->blind && base > 0 && fleet->reference > 0 ? fleet->reference / base : 1;
}

const char *fleet_name(const struct fleet *fleet, size_t node) {
	return fleet->pool->name(fleet->pool->ctx, node);
}

bool fleet_usable(const struct fleet *fleet, size_t node) {
	const struct node *own = &fleet->nodes[node];
	return !own->quarantined && own->state != NODE_LOST && (fleet->blind || (own->base > 0 && !own->returned));
}

bool fleet_is_quarantined(const struct fleet *fleet, size_t node) {
	return fleet->nodes[node].quarantined;
}

void fleet_reference_set(struct fleet *fleet, double value) {
	fleet->reference = value;
}

size_t fleet_alive(const struct fleet *fleet) {
	return fleet->pool->count - fleet->lost - fleet->quarantined_count;
}

void fleet_trials_add(struct fleet *fleet, size_t node, size_t trials) {
	fleet->nodes[node].trials += trials;
}

double fleet_seconds(const struct fleet *fleet) {
	return fleet->seconds;
}

double fleet_job_seconds(const struct fleet *fleet) {
	return fleet->jobs ? fleet->seconds / (double)fleet->jobs : 0;
}

struct pool_held fleet_held(const struct fleet *fleet) {
	struct pool_held held = fleet->pool->held(fleet->pool->ctx);
	held.seconds -= fleet->held_before;
	return held;
}

static const char *state_word(const struct node *node) {
	static const char *const words[] = {
		[NODE_AWAY] = "away", [NODE_IDLE] = "good", [NODE_TAKEN] = "good",
		[NODE_BUSY] = "good", [NODE_LOST] = "lost", [NODE_QUARANTINED] = "set aside",
	};
	return words[node->quarantined ? NODE_QUARANTINED : node->state];
}

json_t *fleet_json(const struct fleet *fleet) {
	json_t *array = json_array();
	for (size_t i = 0; i < fleet->pool->count; i++) {
		const struct node *node = &fleet->nodes[i];
		json_t *reason = *node->reason ? json_string(node->reason) : json_null();
		json_array_append_new(array, json_pack("{s:s,s:I,s:o,s:s,s:o}", "name", fleet_name(fleet, i), "trials",
		                                       (json_int_t)node->trials, "baseline", js_number(node->base), "state",
		                                       state_word(node), "reason", reason));
	}
	return array;
}
