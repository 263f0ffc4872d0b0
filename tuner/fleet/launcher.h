/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways to start workers: on this machine, or on nodes of a cluster. The protocol is the same over the standard streams
 * of whatever is started. */
#ifndef TUNER_FLEET_LAUNCHER_H
#define TUNER_FLEET_LAUNCHER_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"
#include "tuner/worker/worker.h"

struct launcher_probe {
	bool usable;
	char reason[200], fix[200]; /* empty where it is usable */
};

struct launcher_settings {
	const char *worker;       /* the executable, where all nodes see it */
	size_t nodes;             /* 0: those that are there, at least 1 */
	const char *const *words; /* for what starts a worker, NULL-terminated; may be NULL */
};

struct launcher {
	const char *name, *summary;
	bool elsewhere;     /* on other machines than this one */
	int end_signal;     /* as in worker_launch */
	double end_seconds; /* as in worker_launch */
	/* Can it be used here, and if not, why and what would help? */
	void (*probe)(struct launcher_probe *probe);
	/* Starts nothing. *nodes: how many there will be. NULL: ERR_USAGE where the settings can't be met. */
	void *(*open)(const struct launcher_settings *settings, size_t *nodes, struct err *err);
	/* What is run for the worker of a node, NULL-terminated; belongs to the state. From any thread. */
	const char *const *(*argv)(const void *state, size_t node);
	/* As in worker_launch. From any thread; may be NULL: never. */
	bool (*lost)(const void *state, const struct worker_end *end, struct worker_loss *loss);
	/* started: ends what is still there of it, and waits for that; after all workers are stopped. */
	void (*close)(void *state, bool started);
};

extern const struct launcher *const launcher_registry[]; /* ends with NULL */
const struct launcher *launcher_find(const char *name);

#endif
