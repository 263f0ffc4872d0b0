/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launchers start workers, on this machine or on nodes of a cluster. The protocol is the same over the standard streams
 * of whatever process is started. */
#ifndef TUNER_FLEET_LAUNCHER_H
#define TUNER_FLEET_LAUNCHER_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "tuner/worker/worker.h"

struct launcher_probe {
	bool usable;
	char reason[200], fix[200]; /* empty if usable */
};

struct launcher_settings {
	const char *worker;       /* the executable, at a path that all nodes see */
	size_t nodes;             /* 0: all that are available, at least 1 */
	const char *const *hosts; /* for launchers that cannot ask a batch system: hosts, or the GPUs of this machine,
	                             NULL-terminated; may be NULL */
	const char *const *words; /* extra arguments for the command that starts a worker, NULL-terminated; may be NULL */
};

struct launcher {
	const char *name, *summary;
	bool elsewhere;        /* runs on other machines than this one */
	bool here;             /* several workers measure on this machine at the same time */
	int end_signal;        /* as in worker_launch */
	double end_seconds;    /* as in worker_launch */
	double answer_seconds; /* as in worker_launch */
	/* Can it be used here? If not: why not, and what would help. */
	void (*probe)(struct launcher_probe *probe);
	/* Prepares the launcher without starting anything. *nodes: how many nodes it will have. NULL with ERR_USAGE if the
	 * settings cannot be met. */
	void *(*open)(const struct launcher_settings *settings, size_t *nodes, struct err *err);
	/* The command for the worker of a node, NULL-terminated, owned by the state. Called from any thread. */
	const char *const *(*argv)(const void *state, size_t node);
	/* As in worker_launch. Called from any thread; NULL: workers are never lost. */
	bool (*lost)(const void *state, const struct worker_end *end, struct worker_loss *loss);
	/* Why its workers do not start yet, in the words of the batch system; "": unknown. NULL: it has none. */
	void (*queued)(const void *state, char *why, size_t size);
	/* Ends jobs that are still running, and waits for them; called after all workers have stopped, if any was started.
	 * left is set if something may run on; NULL is allowed. NULL: whatever it starts ends with its worker. */
	void (*end)(const void *state, struct err *left);
	void (*close)(void *state); /* frees the state, at last */
};

extern const struct launcher *const launcher_registry[]; /* ends with NULL */
const struct launcher *launcher_find(const char *name);

#endif
