/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a pool as a search sees them: which are idle, how fast each one is, and whether its results can be
 * trusted. Nodes may differ in speed, so every value is reported as its ratio to the baseline on the same node, times
 * the baseline of the first node that measured it (the reference); doc/adr/0011-fleet.md gives the reasons. */
#ifndef TUNER_FLEET_FLEET_H
#define TUNER_FLEET_FLEET_H

#include "tuner/fleet/pool.h"

struct fleet;
struct fleet *fleet_new(struct pool *pool);
void fleet_free(struct fleet *fleet);

/* Takes a node that can be given a job now off the list of idle ones; SIZE_MAX: there is none. */
size_t fleet_idle_take(struct fleet *fleet);
size_t fleet_idle_count(const struct fleet *fleet);
/* Returns a node that was taken and got no job. */
void fleet_idle_put(struct fleet *fleet, size_t node);
/* Hands a job to a node. Returns 1 on success, 0 if the node is gone, -1 if the pool has failed. */
int fleet_submit(struct fleet *fleet, size_t node, const struct pool_job *job, struct err *err);
size_t fleet_busy(const struct fleet *fleet);
/* Like pool.wait. A node whose job has ended is idle again unless it is lost or quarantined. */
int fleet_wait(struct fleet *fleet, double seconds, struct pool_done *done, struct err *err);

/* Is the node's baseline due: at first, after the node was away, and when the last one is old enough? */
bool fleet_baseline_due(const struct fleet *fleet, size_t node);
/* Is the baseline unknown, or outdated because the node was away or its last baseline was suspicious? */
bool fleet_baseline_missing(const struct fleet *fleet, size_t node);
enum fleet_verdict {
	FLEET_GOOD,    /* trusted: go on */
	FLEET_AGAIN,   /* suspicious: measure it once more */
	FLEET_DRIFTED, /* the node changed: its measurements since its last good baseline are void, but it stays in use */
	FLEET_QUARANTINED /* the same, and the node is quarantined */
};
/* Records a baseline: its raw value, or NAN if it failed there with this message. */
enum fleet_verdict fleet_baseline_record(struct fleet *fleet, size_t node, double value, double seconds,
                                         const char *message);
/* Quarantines a node, even if it is the last one: what it reports cannot be true. */
void fleet_distrust(struct fleet *fleet, size_t node, const char *reason);
/* Returns the nodes quarantined since the last call, one by one; SIZE_MAX: no more. */
size_t fleet_quarantined_next(struct fleet *fleet);
/* Restores the reference of an earlier run. */
void fleet_reference_set(struct fleet *fleet, double value);
/* The baseline fails everywhere, so that nodes are compared without it from now on. */
void fleet_baseline_give_up(struct fleet *fleet);

/* Factor from the node's values to the scale of the reference. */
double fleet_scale(const struct fleet *fleet, size_t node);
const char *fleet_name(const struct fleet *fleet, size_t node);
bool fleet_usable(const struct fleet *fleet, size_t node); /* neither quarantined nor lost, and its baseline is known */
bool fleet_is_quarantined(const struct fleet *fleet, size_t node);
size_t fleet_alive(const struct fleet *fleet); /* neither lost nor quarantined */
void fleet_trials_add(struct fleet *fleet, size_t node, size_t trials);

double fleet_seconds(const struct fleet *fleet);     /* time that nodes spent measuring */
double fleet_job_seconds(const struct fleet *fleet); /* mean of a job; 0: none has ended */
/* The node-seconds held since fleet_new, and how many nodes are held now. */
struct pool_held fleet_held(const struct fleet *fleet);
json_t *fleet_json(const struct fleet *fleet); /* [{"name","trials","baseline","state","reason"}] */
#endif
