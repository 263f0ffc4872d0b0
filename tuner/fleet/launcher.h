/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Launchers start workers, on this machine or on nodes of a cluster. The protocol is the same over the standard streams
 * of whatever process is started. */
#ifndef TUNER_FLEET_LAUNCHER_H
#define TUNER_FLEET_LAUNCHER_H
#include "base/mem.h"
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

enum { LAUNCH_NODES_MAX = 10000, LAUNCH_NAME = 24 };

/* The commands that start the workers, read from any thread. */
struct launched {
	struct arena *arena;          /* of the words */
	const char *const **commands; /* of each node, NULL-terminated */
	size_t count;
	char name[LAUNCH_NAME]; /* of its jobs in a batch system, which no other run has */
	bool inside;            /* the nodes are those of an allocation */
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
	/* Adds the command of each node (launched_impl.h) without starting anything; ERR_USAGE if the settings cannot be
	 * met. */
	int (*open)(struct launched *launched, const struct launcher_settings *settings, struct err *err);
	/* As in worker_launch. Called from any thread; NULL: workers are never lost. */
	bool (*lost)(const struct worker_end *end, struct worker_loss *loss);
	/* Why its workers do not start yet, in the words of the batch system; "": unknown. NULL: it has none. */
	void (*queued)(const struct launched *launched, char *why, size_t size);
	/* Ends jobs that are still running, and waits for them; called after all workers have stopped, if any was started.
	 * left is set if something may run on; NULL is allowed. NULL: whatever it starts ends with its worker. */
	void (*end)(const struct launched *launched, struct err *left);
};

extern const struct launcher *const launcher_registry[]; /* ends with NULL */
const struct launcher *launcher_find(const char *name);
/* NULL if the launcher cannot do it. */
struct launched *launcher_open(const struct launcher *launcher, const struct launcher_settings *settings,
                               struct err *err);
void launched_free(struct launched *launched); /* NULL is allowed */

/* All jobs of one run share a name, by which they are found again. */

/* Writes "sweetspot-" and a random number. */
void slurm_jobs_name(char name[LAUNCH_NAME]);
/* Waits until Slurm lists no more jobs of that name, and cancels those that stay. -1: some may run on, because Slurm
 * does not answer or does not end them. */
int slurm_jobs_end(const char *name, struct err *err);

/* Classifies the end of an srun by its messages and by what the controller knows about the job and the node. */
/* Does its stderr say that the job or its node went away? */
bool slurm_end_said(const char *said, char *reason, size_t size);
/* Does a record of `scontrol show job -o`, or of `scontrol show node -o`, say so? */
bool slurm_end_job(const char *record, char *reason, size_t size);
bool slurm_end_node(const char *record, char *reason, size_t size);
/* Does its stderr say that the worker was killed, without a cause? The trial itself may have made the system do it. */
bool slurm_end_killed(const char *said, char *reason, size_t size);
/* Applies all of these in this order. */
bool slurm_end_lost(const struct worker_end *end, struct worker_loss *loss);

/* Workers on hosts that ssh reaches without a password, for the launchers ssh and pbs. */

/* Options of every call of ssh, after those of the user, NULL-terminated: no terminal, no questions, and a host that
 * vanished is noticed within a minute. For most options ssh takes the first value (ssh_config(5)). */
extern const char *const ssh_hosts_options[];

/* Adds the nodes; hosts: NULL-terminated. */
int ssh_hosts_add(struct launched *launched, const struct launcher_settings *settings, const char *const *hosts,
                  struct err *err);
bool ssh_hosts_lost(const struct worker_end *end, struct worker_loss *loss);
/* Does ssh's stderr say that the connection broke? */
bool ssh_hosts_said(const char *said, char *reason, size_t size);

/* Splits a line into words like a POSIX shell (Shell Command Language, 2.2): quotes and backslashes work, but nothing
 * is expanded or run. */

/* Returns a NULL-terminated array, to be freed with words_free. NULL with ERR_USAGE if a quote is not closed, or if a
 * shell would do more than split. */
char **words_split(const char *line, struct err *err);
void words_free(char **words); /* NULL is fine */
#endif
