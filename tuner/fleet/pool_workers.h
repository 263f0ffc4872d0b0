/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of real workers, started through a launcher. Each node has a thread that starts its worker, runs its jobs, and
 * restarts it when it was lost. One queue from the threads to the caller is the only state that both sides write. */
#ifndef TUNER_FLEET_POOL_WORKERS_H
#define TUNER_FLEET_POOL_WORKERS_H
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/pool.h"

struct pool_workers;

/* How a node runs trials. open and close are called in the thread of the node, each with a worker of its own. */
struct pool_work {
	void *ctx; /* constant while in use */
	/* *state is passed to close and may stay NULL. */
	int (*open)(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err);
	void (*close)(void *state); /* may be NULL */
	/* Called in the caller's thread for each trial that came back; may be NULL. */
	void (*seen)(void *seen_ctx, const struct trial_request *request, const struct trial_result *result);
	void *seen_ctx;
};

struct pool_workers_options {
	const struct launcher *launcher;
	const struct launched *launched; /* owned by the caller; outlives the pool */
	const char *worker;              /* the executable */
	uint64_t address_space;          /* limit for a worker that is a child of this process; 0: none */
	const char *device;              /* opened by each node before it is admitted; NULL: the CPU */
	unsigned losses;                 /* a node with more external losses in a row is given up */
	const volatile int *interrupt,
		*abandon; /* set by the first Ctrl-C: wait for nothing new; by the second: wait for nothing at all */
	/* Called in the caller's thread when a node comes up (again), with its worker idle. Returns false and why if the
	 * node must not be used. May be NULL. */
	bool (*admit)(void *ctx, size_t node, struct worker *worker, char *why, size_t size);
	void *admit_ctx;
	/* Called in the caller's thread with a message for people about a node, which may have been given up; may be NULL.
	 */
	void (*note)(void *ctx, bool given_up, const char *text);
	void *note_ctx;
};

/* Starts all nodes without waiting for any. */
struct pool_workers *pool_workers_new(const struct pool_workers_options *options, struct err *err);
void pool_workers_free(struct pool_workers *workers); /* stops them; NULL is fine */
struct pool *pool_workers_pool(struct pool_workers *workers);
/* Sets how trials are run from now on. Only while no job is on its way; `work` outlives the pool. */
void pool_workers_use(struct pool_workers *workers, const struct pool_work *work);
/* Waits until a node is idle, and sets *node to its number; -1 if none ever will be, 1 if none is within `seconds` (<
 * 0: no limit). */
int pool_workers_first(struct pool_workers *workers, double seconds, size_t *node, struct err *err);
/* [{"name","state","job","losses","reason"}], new reference. */
json_t *pool_workers_json(const struct pool_workers *workers);
#endif
