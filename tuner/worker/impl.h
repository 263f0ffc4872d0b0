/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process of a worker, for the files of this room. */
#ifndef TUNER_WORKER_IMPL_H
#define TUNER_WORKER_IMPL_H
#include "tuner/worker/exchange.h"

#define WORKER_STOP_SECONDS 1.0
enum { WORKER_LIBRARIES_MAX = 48 /* that one worker is asked to load, which unloads none */ };

struct worker {
	struct worker_options options;
	char *path;
	struct proc *proc;
	unsigned starts;
	int64_t last_id;
	double sm_mhz;                         /* the highest clock of a GPU seen in its trials */
	char *libraries[WORKER_LIBRARIES_MAX]; /* that this process was asked to load */
	size_t library_count;
	json_t *machine;         /* what this process said of where it runs; NULL without a launch */
	struct worker_loss loss; /* in the last exchange; no reason: it was not lost */
};

/* library: what the next request needs; may be NULL. Nothing happens where it runs. */
int worker_start(struct worker *worker, const char *library, struct err *err);
int worker_stop(struct worker *worker, double grace); /* its status, as of wait(2); 0 where it does not run */
int worker_lost_error(const struct worker *worker, struct err *err); /* -1 */

/* How a request ended that has no usable answer. */
enum broken { BROKEN_NO, BROKEN_DIED, BROKEN_TIMEOUT, BROKEN_FLOOD, BROKEN_INTERRUPTED, BROKEN_UNREADABLE };

/* Of a worker that runs; seconds < 0: without limit. BROKEN_NO: *answer is an object, a new reference. */
enum broken worker_ask(struct worker *worker, const json_t *request, double seconds, json_t **answer);
/* Stops it, and makes of its end a typed failure of the trial that it was running. */
void worker_broken_result(struct worker *worker, enum broken broken, double timeout, double grace,
                          struct trial_result *result);
/* The first question to one that was started through something else; fills worker->machine. */
int worker_machine_ask(struct worker *worker, struct err *err);

#endif
