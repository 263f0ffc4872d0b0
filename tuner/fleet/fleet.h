/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a pool as a search sees them: who is free, who is how fast, and who is not to be believed. Nodes may be
 * of different speed: what one measures is told as its ratio to the baseline on that node, times the baseline on the
 * first node that measured it (the reference). */
#ifndef TUNER_FLEET_FLEET_H
#define TUNER_FLEET_FLEET_H
#include <jansson.h>
#include <stdint.h>

#include "tuner/fleet/pool.h"

struct fleet;
struct fleet *fleet_new(struct pool *pool);
void fleet_free(struct fleet *fleet);

/* A node that can be given a job now, and takes it off the list of those; SIZE_MAX: there is none. */
size_t fleet_idle_take(struct fleet *fleet);
size_t fleet_idle_count(const struct fleet *fleet);
/* Puts one back that was taken and got no job. */
void fleet_idle_put(struct fleet *fleet, size_t node);
/* 1: handed over. 0: the node is not there any more. -1: the pool is done for. */
int fleet_submit(struct fleet *fleet, size_t node, const struct pool_job *job, struct err *err);
size_t fleet_busy(const struct fleet *fleet);
/* Like pool.wait. A node whose job ended is idle again, unless it is lost or was set aside. */
int fleet_wait(struct fleet *fleet, double seconds, struct pool_done *done, struct err *err);

/* Is it time for the node's baseline: at first, after it was away, and when the last was long enough ago? */
bool fleet_baseline_due(const struct fleet *fleet, size_t node);
/* Is it not known, or since then it was away, or the last one was strange? */
bool fleet_baseline_missing(const struct fleet *fleet, size_t node);
enum fleet_verdict {
	FLEET_GOOD,       /* go on */
	FLEET_AGAIN,      /* strange: measure it once more */
	FLEET_DRIFTED,    /* it changed: what was measured since the last good baseline is worth nothing; it goes on */
	FLEET_QUARANTINED /* the same, and the node is set aside */
};
/* value: of the baseline, raw. NAN: it failed there, with this message. */
enum fleet_verdict fleet_baseline_record(struct fleet *fleet, size_t node, double value, double seconds,
                                         const char *message);
/* Those that were set aside since the last call, one after the other; SIZE_MAX: no more. */
size_t fleet_quarantined_next(struct fleet *fleet);
/* An earlier run's. */
void fleet_reference_set(struct fleet *fleet, double value);
/* The baseline works nowhere: nothing is compared between nodes by it. */
void fleet_baseline_give_up(struct fleet *fleet);

/* What the node measures times this is on the reference's scale. */
double fleet_scale(const struct fleet *fleet, size_t node);
const char *fleet_name(const struct fleet *fleet, size_t node);
bool fleet_usable(const struct fleet *fleet, size_t node); /* not set aside, not lost, and its baseline is known */
bool fleet_is_quarantined(const struct fleet *fleet, size_t node);
size_t fleet_alive(const struct fleet *fleet); /* neither lost for good nor set aside */
void fleet_trials_add(struct fleet *fleet, size_t node, size_t trials);

double fleet_seconds(const struct fleet *fleet); /* that nodes spent measuring */
/* What the nodes cost since fleet_new, and how many of them are there. */
struct pool_held fleet_held(const struct fleet *fleet);
json_t *fleet_json(const struct fleet *fleet); /* [{"name","trials","baseline","state","reason"}] */

#endif
