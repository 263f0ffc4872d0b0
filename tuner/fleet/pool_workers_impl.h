/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by pool_workers.c (the caller's side), pool_node.c (a thread's) and pool_queue.c (what is between them). */
#ifndef TUNER_FLEET_POOL_WORKERS_IMPL_H
#define TUNER_FLEET_POOL_WORKERS_IMPL_H
#include <pthread.h>

#include "tuner/fleet/pool_workers.h"

enum pool_what {
	POOL_UP,    /* its worker is there */
	POOL_AGAIN, /* it was lost, and is asked for again */
	POOL_DONE,  /* a job ended */
	POOL_GONE   /* given up */
};

/* From a node to the caller. */
struct pool_event {
	enum pool_what what;
	size_t node;
	struct pool_done done; /* its job; lost is set by who takes it */
	bool ready;            /* for the next one */
	struct err err;        /* nothing can be run at all; code ERR_OK: fine */
	json_t *machine;       /* of POOL_UP, the receiver's */
	char reason[160];
	struct pool_event *next;
};

/* From the caller to a node. */
struct pool_order {
	/* NULL: leave, its worker is not needed any more. Never looked into by the thread: an interrupted caller may not
	 * wait for it. */
	const struct pool_job *job;
	size_t count;
	struct trial_request *requests; /* copies, with problem and configuration of their own */
	const struct pool_work *work;
};

struct pool_queue {
	pthread_mutex_t mutex;
	pthread_cond_t come; /* an event */
	struct pool_event *first, **last;
};

struct pool_node {
	const struct pool_workers_options *options; /* not changed while there are threads */
	struct pool_queue *queue;
	size_t number;
	pthread_t thread;
	bool has_thread;
	/* under the queue's mutex */
	pthread_cond_t wake;
	struct pool_order order;
	bool has_order;
	int stop; /* atomic: an exchange looks at it, too */
	/* the thread's, and while the node is idle the caller's, too */
	struct worker *worker;
	struct worker_launch launch;
	/* the thread's */
	unsigned losses, row; /* from outside, since a trial was through; all, since its worker was there */
	const struct pool_work *work;
	struct runner runner;
	void *runner_state;
	/* the caller's */
	enum pool_state state;
	char *name, *job;
	unsigned lost;
	char reason[160];
	struct trial_request *requests; /* of its order, to be freed */
};

int pool_queue_init(struct pool_queue *queue);
void pool_queue_clear(struct pool_queue *queue); /* with the events that nobody took */
void pool_queue_put(struct pool_queue *queue, const struct pool_event *event);
/* False where none came within `seconds`. */
bool pool_queue_take(struct pool_queue *queue, double seconds, struct pool_event *event);
void pool_node_order(struct pool_node *node, const struct pool_order *order);
/* False: stop. */
bool pool_node_wait(struct pool_node *node, struct pool_order *order);
/* True as soon as the node is to stop, else after `seconds`. */
bool pool_node_pause(struct pool_node *node, double seconds);
void pool_node_stop(struct pool_node *node);

void *pool_node_main(void *node);

#endif
