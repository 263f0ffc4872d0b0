/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that measure at the same time, each one job at a time. A job is trials that belong together: they run on one
 * node, one after the other, and are compared with each other alone. */
#ifndef TUNER_FLEET_POOL_H
#define TUNER_FLEET_POOL_H
#include <stdbool.h>
#include <stddef.h>

#include "tuner/trial/trial.h"

struct pool_job { /* the caller's until it comes back, with all that its requests point to */
	const struct trial_request *requests;
	size_t count;
	void *tag; /* the caller's */
};

enum pool_state {
	POOL_QUEUED, /* asked for, not given yet */
	POOL_IDLE,
	POOL_BUSY,
	POOL_LOST /* for good: no more is asked of it */
};

struct pool_done {
	size_t node;
	const struct pool_job *job;
	struct trial_result *results; /* job->count, `done` of them filled; cleared and freed by pool_done_clear */
	size_t done;
	/* NULL, or why the node or its worker went away before the job was through: of the trial that it was at nothing is
	 * known, so it is no failure of a configuration. */
	const char *lost;
	/* And that trial had no part in it (preempted, cancelled, time limit, node failure). Where it is false it may be
	 * what killed the worker. */
	bool outside;
	char reason[160]; /* what `lost` points to */
};
void pool_done_clear(struct pool_done *done);

struct pool_held {
	/* That nodes cost until now, all together: from when one is there until it is away or lost, idle or not. */
	double seconds;
	size_t nodes; /* that are held now */
};
struct pool_meter { /* what adds that up; all 0 at first */
	struct pool_held held;
	double at;
};
void pool_meter_change(struct pool_meter *meter, double now, bool more); /* one node more, or less */
struct pool_held pool_meter_read(const struct pool_meter *meter, double now);
bool pool_state_held(enum pool_state state);

/* What stands behind it: workers through a launcher (pool_workers.h), or virtual nodes (pool_simulated.h). All calls
 * from one thread. */
struct pool {
	void *ctx;
	size_t count; /* nodes, numbered from 0 */
	const char *(*name)(void *ctx, size_t node);
	enum pool_state (*state)(void *ctx, size_t node);
	/* To an idle node. -1: it can't be handed over. */
	int (*submit)(void *ctx, size_t node, const struct pool_job *job, struct err *err);
	/* Interrupted, it goes on until the jobs that are on their way have ended; after -1 no job is looked at any more.
	 * The next job that ended: 1. 0: none did within `seconds` (< 0: no limit), or a node changed its state. -1:
	 * interrupted (ERR_INTERRUPTED), or all nodes are lost and nothing is to be hoped for. */
	int (*wait)(void *ctx, double seconds, struct pool_done *done, struct err *err);
	double (*now)(void *ctx); /* seconds, monotonic; virtual where the nodes are */
	struct pool_held (*held)(void *ctx);
};

#endif
