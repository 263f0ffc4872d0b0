/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers with flux run, one job for each node. The options follow flux-run(1), and the messages follow
 * src/cmd/job/attach.c of flux-core. Only stand-ins of Flux's commands were tried (doc/fleet.md). */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/fleet/batch_command_impl.h"
#include "tuner/fleet/end_sign_impl.h"
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/slurm_jobs.h"

enum { NODES_MAX = 10000 };
static const double ASK_SECONDS = 10, END_SECONDS = 20;

struct flux {
	struct arena *arena;
	char name[SLURM_JOBS_NAME]; /* of its jobs, which no other run has */
	const char *const *argv;    /* the same for each node */
};

/* "12.345s: job.exception f1 type=cancel severity=0 note", and the end of the task. */
static const struct end_sign outside_signs[] = {
	{"type=timeout", "its job reached its time limit", false},
	{"type=cancel", "its job was cancelled", false},
	{"type=preempt", "its job was preempted", false},
	{"type=node-failure", "its node failed", false},
	{"type=alloc", "Flux did not allocate a node", false},
	{"type=exec", "Flux could not start it", false},
	{0},
};
static const struct end_sign killed_signs[] = {
	{"flux-job: task(s) Killed", "its worker was killed", false},
	{"flux-job: task(s) Terminated", "its worker was killed", false},
	{0},
};

static void flux_probe(struct launcher_probe *probe) {
	static const char *const size[] = {"flux", "getattr", "size", NULL};
	char said[120] = "";
	int status = -1;
	if (batch_command_found("flux")) {
		free(batch_command(size, ASK_SECONDS, &status, said, sizeof said));
		probe->usable = status == 0;
	} else {
		snprintf(said, sizeof said, "flux was not found in PATH");
	}
	if (probe->usable)
		return;
	snprintf(probe->reason, sizeof probe->reason, "%s", *said ? said : "there is no instance of Flux");
	snprintf(probe->fix, sizeof probe->fix,
	         "run it in an instance of Flux, such as flux alloc -N4, or on its login node");
}

static const char *const *argv_make(struct flux *flux, const struct launcher_settings *settings) {
	/* The worker binds its threads itself and has the whole node. Its answers must not wait for a batch of output. */
	const char *const own[] = {"flux",         "run",
	                           "-N1",          "-n1",
	                           "--exclusive",  arena_printf(flux->arena, "--job-name=%s", flux->name),
	                           "--unbuffered", "--setopt=cpu-affinity=off"};
	size_t words = 0, count = 0;
	while (settings->words && settings->words[words])
		words++;
	const char **argv = arena_alloc(flux->arena, sizeof own / sizeof *own + words + 3, sizeof *argv);
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		argv[count++] = own[i];
	for (size_t i = 0; i < words; i++)
		argv[count++] = arena_strdup(flux->arena, settings->words[i]);
	argv[count++] = arena_strdup(flux->arena, settings->worker);
	argv[count++] = "kept"; /* ends what its program leaves behind when Flux passes SIGTERM on */
	return argv;
}

static void *flux_open(const struct launcher_settings *settings, size_t *nodes, struct err *err) {
	if (settings->nodes > NODES_MAX) {
		err_set(err, ERR_USAGE, NULL, "at most %d nodes are possible", NODES_MAX);
		return NULL;
	}
	struct flux *flux = mem_alloc(1, sizeof *flux);
	flux->arena = arena_new();
	slurm_jobs_name(flux->name);
	flux->argv = argv_make(flux, settings);
	*nodes = settings->nodes ? settings->nodes : 1;
	return flux;
}

static const char *const *flux_argv(const void *state, size_t node) {
	const struct flux *flux = state;
	(void)node;
	return flux->argv;
}

static bool flux_lost(const void *state, const struct worker_end *end, struct worker_loss *loss) {
	const char *exception = strstr(end->said, ": job.exception ");
	bool outside = exception && end_sign_find(outside_signs, exception, loss->reason, sizeof loss->reason);
	bool killed = !outside && end_sign_find(killed_signs, end->said, loss->reason, sizeof loss->reason);
	bool never = !end->machine;
	(void)state;
	if (never && !outside && !killed)
		end_never_started(end->said, loss);
	loss->outside = outside || never;
	return outside || killed || never;
}

/* SIGTERM reaches jobs that run (flux-job(1)); others wait in the queue until somebody cancels them. */
static void flux_end(const void *state, struct err *left) {
	const struct flux *flux = state;
	const char *const argv[] = {"flux", "pkill", "--wait", arena_printf(flux->arena, "name:%s", flux->name), NULL};
	int status;
	free(batch_command(argv, END_SECONDS, &status, NULL, 0));
	if (status == -1) {
		err_set(left, ERR_UNAVAILABLE, NULL, "jobs of this run may still hold nodes, because Flux does not answer");
		err_hint(left, "`flux pkill name:%s` ends them", flux->name);
	}
}

static void flux_close(void *state) {
	struct flux *flux = state;
	arena_free(flux->arena);
	free(flux);
}

const struct launcher launcher_flux = {
	.name = "flux",
	.summary = "workers on nodes of an instance of Flux through flux run, each a job",
	.elsewhere = true,
	.end_signal = SIGTERM,
	.end_seconds = 10,
	.probe = flux_probe,
	.open = flux_open,
	.argv = flux_argv,
	.lost = flux_lost,
	.end = flux_end,
	.close = flux_close,
};
