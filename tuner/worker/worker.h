/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuner's end of the worker: starts it, asks, replaces it after a failure. Protocol: doc/protocol.md. */
#ifndef TUNER_WORKER_WORKER_H
#define TUNER_WORKER_WORKER_H
#include "tuner/trial/trial.h"

struct worker;

/* How a worker that was started through something else came to its end. */
struct worker_end {
	int status;            /* as of wait(2); of what it was started through */
	bool silent;           /* it still runs, but gave no answer in time */
	const char *said;      /* the end of its stderr */
	const json_t *machine; /* what it said of itself; NULL: it never came so far */
};

/* Why a worker is gone, where it was not what it ran that ended it, or where that is not known. */
struct worker_loss {
	char reason[160];
	bool outside; /* for sure: whoever gave the node took it away, or the node failed */
};

/* Another way to start it than as a child of this process: argv has the worker's executable in it. */
struct worker_launch {
	const char *const *argv;
	int end_signal; /* as in proc_spec */
	double end_seconds;
	void *ctx;
	/* Is nothing known of what it ran, as its node went away or it was killed? Then why. */
	bool (*lost)(void *ctx, const struct worker_end *end, struct worker_loss *loss);
};

struct worker_options {
	const char *path;                   /* the executable */
	const struct worker_launch *launch; /* NULL: it is a child of this process */
	uint64_t address_space;             /* bytes; 0: no limit */
	const volatile int *interrupt;      /* Ctrl-C seen; may be NULL */
};

/* Nothing is started until it is needed. */
struct worker *worker_new(const struct worker_options *options);
void worker_rest(struct worker *worker); /* stops it, until it is needed again */
void worker_free(struct worker *worker); /* stops it; leaves no process of its group behind */
struct runner worker_runner(struct worker *worker);
/* {"parts":[..],"devices":[..]}: what there is of CUDA here; with a device word also "device", that GPU, which is
 * opened for it: ERR_UNAVAILABLE where it can't be. New reference. */
json_t *worker_devices(struct worker *worker, const char *device, struct err *err);
/* The built-in kernels, or those of the plug-in with this absolute path: ERR_USAGE where it is none. New reference. */
json_t *worker_describe(struct worker *worker, const char *library, struct err *err);
const volatile int *worker_interrupt(const struct worker *worker); /* of its options */
/* Starts it where it does not run, which may take as long as a queue is. Its answer to "machine": {"node","host","job",
 * "step","machine","topology"}, borrowed, checked for types. NULL where it could not be had. Only with a launch. */
const json_t *worker_machine(struct worker *worker, struct err *err);
bool worker_runs(const struct worker *worker); /* as far as is known: it has not ended in an exchange */
/* Why it was lost in the last exchange or start that failed; NULL: it was not. */
const struct worker_loss *worker_lost(const struct worker *worker);
unsigned worker_starts(const struct worker *worker);
unsigned worker_restarts(const struct worker *worker);

#endif
