/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "tuner/fleet/fleet.h"

enum node_state { NODE_AWAY, NODE_IDLE, NODE_TAKEN, NODE_BUSY, NODE_LOST, NODE_QUARANTINED };
enum { RECENT = 3 };

struct node {
	enum node_state state;
	bool quarantined; /* takes effect once its job has ended */
	bool returned;    /* was away since its last baseline */
	uint64_t trials;
	double recent[RECENT];    /* ring buffer of its last baselines */
	size_t measured, strange; /* measured: since the ring was reset; strange: suspicious baselines in a row */
	double base;              /* their median; NAN: none */
	double based_at, base_cost;
	size_t failed; /* failed baselines in a row */
	double begun;  /* start of its job */
	char reason[160];
};

struct fleet {
	struct pool *pool;
	struct node *nodes;
	size_t *idle, idle_count, *away, away_count;
	size_t busy, lost, quarantined_count;
	size_t *quarantined, quarantined_reported; /* in the order in which they were quarantined */
	double reference;                          /* NAN: not known */
	bool blind;                                /* works without baselines */
	double seconds, held_before;
	uint64_t jobs;       /* that have ended, in `seconds` */
	size_t known, fresh; /* nodes with a baseline; baselines since the nodes were last judged */
	double *logs;        /* scratch: one number per node */
};

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

/* Decides by their baselines which nodes can be trusted: a node is quarantined if it is slower than nearly all others,
 * or slower than it was. Medians and median absolute deviations are used because neither moves with the few nodes that
 * are to be found (Huber, "Robust Statistics", 1981; doc/adr/0011-fleet.md). */
/* Repeated baselines take at most this share of a node's time. */
static const double BASELINE_SHARE = 1.0 / 16;
/* In logarithms: a smaller distance is neither an outlier nor a drift, because shared machines vary by some percent all
 * the time. */
static const double APART_MIN = 0.14, DRIFT_MIN = 0.14;
/* In standard deviations, estimated by the median absolute deviation of the nodes. */
static const double APART_DEVIATIONS = 4;
/* If more than this share of the nodes is slow, they are another kind of node and not outliers; ratios to the baseline
 * take care of that. */
static const double OUTLIERS_MAX = 0.2;
/* Nodes are judged once this share of those present has a baseline. */
static const double KNOWN_MIN = 0.9;
enum { NODES_MIN = 3, FAILED_MAX = 2, JUDGED_EACH = 16 /* judged after 1/16 of the known nodes have a new baseline */ };

static void fleet_quarantine(struct fleet *fleet, size_t node) {
	struct node *own = &fleet->nodes[node];
	if (own->quarantined)
		return;
	own->quarantined = true;
	if (own->state == NODE_LOST)
		fleet->lost--;
	fleet->quarantined[fleet->quarantined_count++] = node;
}

void fleet_distrust(struct fleet *fleet, size_t node, const char *reason) {
	snprintf(fleet->nodes[node].reason, sizeof fleet->nodes[node].reason, "%s", reason);
	fleet_quarantine(fleet, node);
}

size_t fleet_quarantined_next(struct fleet *fleet) {
	return fleet->quarantined_reported < fleet->quarantined_count ? fleet->quarantined[fleet->quarantined_reported++]
	                                                              : SIZE_MAX;
}

void fleet_baseline_give_up(struct fleet *fleet) {
	fleet->blind = true;
}

bool fleet_baseline_missing(const struct fleet *fleet, size_t node) {
	const struct node *own = &fleet->nodes[node];
	return !fleet->blind && (isnan(own->base) || own->returned || own->strange);
}

bool fleet_baseline_due(const struct fleet *fleet, size_t node) {
	const struct node *own = &fleet->nodes[node];
	if (fleet->blind)
		return false;
	return fleet_baseline_missing(fleet, node) ||
	       fleet->pool->now(fleet->pool->ctx) - own->based_at >= own->base_cost / BASELINE_SHARE;
}

static bool judged(const struct node *node) {
	return !node->quarantined && node->state != NODE_LOST && node->base > 0;
}

static double bound_of(const struct fleet *fleet, size_t count, double *median) {
	*median = stats_median(fleet->logs, count);
	return fmax(APART_MIN, APART_DEVIATIONS * stats_mad(fleet->logs, count));
}

/* Compares all nodes with each other and quarantines the outliers. */
static void fleet_judge(struct fleet *fleet) {
	size_t count = 0, beyond = 0;
	double median;
	fleet->fresh = 0;
	for (size_t i = 0; i < fleet->pool->count; i++)
		if (judged(&fleet->nodes[i]))
			fleet->logs[count++] = log(fleet->nodes[i].base);
	fleet->known = count;
	size_t there = fleet_alive(fleet) - fleet->away_count;
	if (count < NODES_MIN || (double)count < KNOWN_MIN * (double)there)
		return;
	double bound = bound_of(fleet, count, &median);
	for (size_t i = 0; i < count; i++)
		beyond += fleet->logs[i] - median > bound;
	if ((double)beyond > fmax(1, OUTLIERS_MAX * (double)count))
		return;
	for (size_t i = 0; beyond && i < fleet->pool->count; i++) {
		struct node *node = &fleet->nodes[i];
		double apart = judged(node) ? log(node->base) - median : 0;
		if (!(apart > bound))
			continue;
		snprintf(node->reason, sizeof node->reason,
		         "slow: its baseline takes %.0f %% longer than the median of %zu nodes", 100 * expm1(apart), count);
		fleet_quarantine(fleet, i);
	}
}

static void base_set(struct fleet *fleet, struct node *node, double value) {
	size_t count = ++node->measured < RECENT ? node->measured : RECENT;
	node->recent[(node->measured - 1) % RECENT] = value;
	node->base = stats_median(node->recent, count);
	node->strange = 0;
	if (isnan(fleet->reference))
		fleet->reference = node->base;
	if (++fleet->fresh * JUDGED_EACH >= fleet->known)
		fleet_judge(fleet);
}

/* The last node is never quarantined, because the search could not go on without it. */
static enum fleet_verdict distrust(struct fleet *fleet, size_t node) {
	if (fleet_alive(fleet) <= 1)
		return FLEET_DRIFTED;
	fleet_quarantine(fleet, node);
	return FLEET_QUARANTINED;
}

static enum fleet_verdict failed(struct fleet *fleet, size_t at, const char *message) {
	struct node *node = &fleet->nodes[at];
	if (++node->failed < FAILED_MAX)
		return FLEET_AGAIN;
	snprintf(node->reason, sizeof node->reason, "its baseline fails: %.120s", message);
	return distrust(fleet, at);
}

/* Called once a drift was confirmed by a second baseline. */
static enum fleet_verdict drifted(struct fleet *fleet, size_t at, double drift, double value) {
	struct node *node = &fleet->nodes[at];
	enum fleet_verdict verdict = FLEET_DRIFTED;
	if (drift > 0) {
		snprintf(node->reason, sizeof node->reason, "throttled: its baseline takes %.0f %% longer than before",
		         100 * expm1(drift));
		verdict = distrust(fleet, at);
	}
	node->measured = 0;
	base_set(fleet, node, value);
	return node->quarantined ? FLEET_QUARANTINED : verdict;
}

enum fleet_verdict fleet_baseline_record(struct fleet *fleet, size_t at, double value, double seconds,
                                         const char *message) {
	struct node *node = &fleet->nodes[at];
	node->based_at = fleet->pool->now(fleet->pool->ctx);
	node->base_cost = seconds;
	node->returned = false;
	if (node->quarantined)
		return FLEET_QUARANTINED;
	if (fleet->blind)
		return FLEET_GOOD;
	if (!(value > 0))
		return failed(fleet, at, message);
	node->failed = 0;
	double drift = node->base > 0 ? log(value / node->base) : 0;
	if (fabs(drift) > DRIFT_MIN && node->strange++ == 0)
		return FLEET_AGAIN;
	if (fabs(drift) > DRIFT_MIN)
		return drifted(fleet, at, drift, value);
	base_set(fleet, node, value);
	return node->quarantined ? FLEET_QUARANTINED : FLEET_GOOD;
}
