/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pool of real workers, started through a launcher: one thread a node, which starts its worker, runs its jobs and
 * starts it anew where it was lost. Between the threads and the caller there is one queue, and nothing else that both
 * write. */
#ifndef TUNER_FLEET_POOL_WORKERS_H
#define TUNER_FLEET_POOL_WORKERS_H
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/pool.h"

struct pool_workers;

/* What a node runs trials with. open and close are called in the node's thread, each with a worker of its own. */
struct pool_work {
	void *ctx; /* not changed as long as it is in use */
	/* *state: for close; may stay NULL. */
	int (*open)(void *ctx, struct worker *worker, void **state, struct runner *runner, struct err *err);
	void (*close)(void *state); /* may be NULL */
	/* In the caller's thread, of each trial that came back; may be NULL. */
	void (*seen)(void *seen_ctx, const struct trial_request *request, const struct trial_result *result);
	void *seen_ctx;
};

struct pool_workers_options {
	const struct launcher *launcher;
	void *launch; /* its state; the caller's, and outlives the pool */
	size_t count;
	const char *worker;                      /* the executable */
	uint64_t address_space;                  /* of it, where it is a child of this process; 0: no limit */
	unsigned losses;                         /* in a row, from outside: with one more a node is given up */
	const volatile int *interrupt, *abandon; /* Ctrl-C once: nothing new is waited for; twice: nothing at all */
	/* A node is there (again), its worker idle and the caller's to ask. False and why where it is not to be used. In
	 * the caller's thread; may be NULL. */
	bool (*admit)(void *ctx, size_t node, struct worker *worker, char *why, size_t size);
	void *admit_ctx;
	/* What happens to nodes, for people, in the caller's thread; may be NULL. */
	void (*note)(void *ctx, const char *text);
	void *note_ctx;
};

/* Starts all of them, and waits for none. */
struct pool_workers *pool_workers_new(const struct pool_workers_options *options, struct err *err);
void pool_workers_free(struct pool_workers *workers); /* stops them; NULL is fine */
struct pool *pool_workers_pool(struct pool_workers *workers);
/* What is to be run from now on; only while no job is on its way. It outlives the pool. */
void pool_workers_use(struct pool_workers *workers, const struct pool_work *work);
/* Waits until a node is idle and gives its number, -1 where none ever will. */
int pool_workers_first(struct pool_workers *workers, size_t *node, struct err *err);
/* Of an idle node: the caller may ask it as long as it gives it no job. */
struct worker *pool_workers_worker(struct pool_workers *workers, size_t node);
/* [{"name","state","job","losses","reason"}], new reference. */
json_t *pool_workers_json(const struct pool_workers *workers);

#endif
