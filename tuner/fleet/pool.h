/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of nodes that measure at the same time, one job each. A job is a group of trials that belong together: they
 * run on one node, one after the other, because only those are comparable (doc/adr/0011-fleet.md). */
#ifndef TUNER_FLEET_POOL_H
#define TUNER_FLEET_POOL_H

#include "tuner/trial/trial.h"

/* Owned by the caller until it comes back, with everything that its requests point to. The `left_s` of a request counts
 * from the submission, and once it has passed the job ends without the trials that have not begun. */
struct pool_job {
	const struct trial_request *requests;
	size_t count;
	void *tag; /* the caller's */
};

enum pool_state {
	POOL_QUEUED, /* requested and not yet available */
	POOL_IDLE,
	POOL_BUSY,
	POOL_LOST /* for good: the node is not asked for again */
};

struct pool_done {
	size_t node;
	const struct pool_job *job;
	struct trial_result *results; /* job->count entries, `done` of them filled; freed by pool_done_clear */
	size_t done;
	/* NULL, or why the node or its worker went away before the job was through. Nothing is known about the trial that
	 * was running, so it does not count as a failure of its configuration. */
	const char *lost;
	/* That trial certainly did not cause the loss (preemption, cancellation, time limit, node failure). If false, it
	 * may have killed its worker. */
	bool outside;
	bool lies;        /* the node reported what cannot be, and is given up */
	char reason[160]; /* storage for `lost` */
};
void pool_done_clear(struct pool_done *done);

struct pool_held {
	/* Node-seconds so far: each node counts from its arrival until it is away or lost, idle or not. */
	double seconds;
	size_t nodes; /* held now */
};
struct pool_meter { /* accumulates that; starts as {0} */
	struct pool_held held;
	double at;
};
void pool_meter_change(struct pool_meter *meter, double now, bool more); /* one node more, or one less */
struct pool_held pool_meter_read(const struct pool_meter *meter, double now);
bool pool_state_held(enum pool_state state);

/* The contract between those who measure and those who know where. Real workers started through a launcher
 * (pool_workers.h) implement it, and so do virtual nodes in tests. All calls come from one thread. */
struct pool {
	void *ctx;
	size_t count; /* nodes are numbered from 0 */
	const char *(*name)(void *ctx, size_t node);
	enum pool_state (*state)(void *ctx, size_t node);
	/* Hands a job to an idle node. Returns -1 if that fails. */
	int (*submit)(void *ctx, size_t node, const struct pool_job *job, struct err *err);
	/* Waits for the next job that ends. Returns 1 with *done; 0 if none ended within `seconds` (< 0: no limit) or the
	 * state of a node changed; -1 if interrupted (ERR_INTERRUPTED), or if all nodes are lost and none can come back. An
	 * interruption first lets the running jobs end; after -1 all jobs are dropped. */
	int (*wait)(void *ctx, double seconds, struct pool_done *done, struct err *err);
	double (*now)(void *ctx); /* monotonic seconds; virtual for virtual nodes */
	struct pool_held (*held)(void *ctx);
};
#endif
