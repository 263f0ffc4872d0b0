/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides by their baselines which nodes can be trusted: a node is quarantined if it is slower than nearly all others,
 * or slower than it was. Medians and median absolute deviations are used because neither moves with the few nodes that
 * are to be found (Huber, "Robust Statistics", 1981; doc/adr/0011-fleet.md). */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/stats.h"
#include "tuner/fleet/fleet_impl.h"

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
