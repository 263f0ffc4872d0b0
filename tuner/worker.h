/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuner's end of the worker: starts it, asks, replaces it after a failure. Protocol: doc/protocol.md. */
#ifndef TUNER_WORKER_H
#define TUNER_WORKER_H
#include "tuner/trial.h"

struct worker;

struct worker_options {
	const char *path;              /* the executable */
	uint64_t address_space;        /* bytes; 0: no limit */
	const volatile int *interrupt; /* Ctrl-C seen; may be NULL */
};

/* Nothing is started until it is needed. */
struct worker *worker_new(const struct worker_options *options);
void worker_free(struct worker *worker); /* stops it; leaves no process of its group behind */
struct runner worker_runner(struct worker *worker);
/* {"parts":[..],"devices":[..]}: what there is of CUDA here; with a device word also "device", that GPU, which is opened
 * for it: ERR_UNAVAILABLE where it can't be. New reference. */
json_t *worker_devices(struct worker *worker, const char *device, struct err *err);
/* The built-in kernels, or those of the plug-in with this absolute path: ERR_USAGE where it is none. New reference. */
json_t *worker_describe(struct worker *worker, const char *library, struct err *err);
const volatile int *worker_interrupt(const struct worker *worker); /* of its options */
unsigned worker_restarts(const struct worker *worker);

#endif
