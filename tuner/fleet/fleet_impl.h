/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_FLEET_FLEET_IMPL_H
#define TUNER_FLEET_FLEET_IMPL_H
#include <pthread.h>

#include "tuner/fleet/pool_workers.h"

/* Shared by the launchers: command lines, the user commands of batch systems, and why a worker ended. */

/* Adds a node whose command is the words of all parts, each NULL-terminated or NULL. */
void launched_add(struct launched *launched, const char *const *const *parts, size_t count);
int launched_nodes_check(const struct launcher_settings *settings, struct err *err);
/* For launchers whose nodes are all alike: the same command for each that is wanted, at least one. */
void launched_add_all(struct launched *launched, const struct launcher_settings *settings,
                      const char *const *const *parts, size_t count);

/* Runs a command for at most that time. Returns the output, at most 64 KiB; the caller frees it. *status is as in
 * wait(2), or -1 if the command could not be run or took longer. `said` (may be NULL) gets the last line of its stderr.
 */
char *batch_command(const char *const *argv, double seconds, int *status, char *said, size_t size);
/* Is it in PATH? */
bool batch_command_found(const char *program);

struct end_sign { /* a message of the launcher's command; a list ends with one without words */
	const char *words, *reason;
	bool rest; /* append the rest of the line */
};
/* The first sign of the list that the text contains counts. */
bool end_sign_find(const struct end_sign *signs, const char *text, char *reason, size_t size);
/* Was the worker lost? outside, killed: a sign of this was found, with the reason. A worker that never answered is
 * always lost, and no trial is to blame. */
bool end_lost(const struct worker_end *end, bool outside, bool killed, struct worker_loss *loss);

/* Shared by pool_workers.c (the caller's side) and pool_node.c (the thread of a node). */
enum pool_what {
	POOL_UP,    /* its worker is up */
	POOL_AGAIN, /* its worker was lost and is restarted */
	POOL_DONE,  /* a job has ended */
	POOL_GONE   /* the node was given up */
};

/* A message from a node to the caller. */
struct pool_event {
	enum pool_what what;
	size_t node;
	struct pool_done done; /* its job; the receiver sets `lost` */
	bool ready;            /* ready for the next job */
	struct err err;        /* set if nothing can be run at all */
	json_t *machine;       /* for POOL_UP, owned by the receiver */
	char reason[160];
	struct pool_event *next;
};

/* An order from the caller to a node. */
struct pool_order {
	/* NULL: the worker is not needed any more. The thread never dereferences it, because an interrupted caller may free
	 * its job without waiting. */
	const struct pool_job *job;
	size_t count;
	struct trial_request *requests; /* copies with problems and configurations of their own */
	const struct pool_work *work;
};

struct pool_queue {
	pthread_mutex_t mutex;
	pthread_cond_t come; /* signalled for each event */
	struct pool_event *first, **last;
};

struct pool_node {
	const struct pool_workers_options *options; /* constant while there are threads */
	struct pool_queue *queue;
	size_t number;
	pthread_t thread;
	bool has_thread;
	/* protected by the queue's mutex */
	pthread_cond_t wake;
	struct pool_order order;
	bool has_order;
	int stop; /* atomic, because the worker's exchange polls it as well */
	/* the thread's; the caller's while the node is idle */
	struct worker *worker;
	struct worker_launch launch;
	/* the thread's */
	unsigned losses, row; /* external losses since the last completed trial; all losses since its worker was up */
	const struct pool_work *work;
	struct runner runner;
	void *runner_state;
	/* the caller's */
	enum pool_state state;
	bool was_up;
	char *name, *job;
	unsigned lost;
	char reason[160];
	struct trial_request *requests; /* copies made for its order */
};

/* Takes the next event; false if none came within `seconds`. */
bool pool_queue_take(struct pool_queue *queue, double seconds, struct pool_event *event);

void *pool_node_main(void *node);
#endif
