/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process of a worker, for the files of this room. */
#ifndef TUNER_WORKER_IMPL_H
#define TUNER_WORKER_IMPL_H
#include "tuner/worker/worker.h"

#define WORKER_STOP_SECONDS 1.0
enum { WORKER_LIBRARIES_MAX = 48 /* per process, which never unloads one */ };

struct worker {
	struct worker_options options;
	char *path;
	int answers; /* a memory file, in which workers keep what oracles say; -1: none */
	struct proc *proc;
	unsigned starts;
	int64_t last_id;
	double longest_s;                      /* of the exchanges that were answered */
	double sm_mhz;                         /* the highest GPU clock seen in its trials */
	char *libraries[WORKER_LIBRARIES_MAX]; /* loaded by this process */
	size_t library_count;
	json_t *machine;         /* the process's answer to "machine"; NULL without a launch */
	json_t *device;          /* and to "devices", with the word that was "asked" for; NULL: it was not asked */
	char unreadable[60];     /* the beginning of an answer that is not a JSON object */
	struct worker_loss loss; /* of the last exchange; empty reason: not lost */
};

/* How a request without a usable answer ended. */
enum broken { BROKEN_NO, BROKEN_DIED, BROKEN_TIMEOUT, BROKEN_FLOOD, BROKEN_INTERRUPTED, BROKEN_UNREADABLE };
#endif
