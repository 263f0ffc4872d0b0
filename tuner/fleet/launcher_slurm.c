/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers with srun: one job per node, or, inside an allocation, one step per node. The options follow srun(1)
 * of Slurm 22.05 and were tried with it; doc/fleet.md has the findings. */
#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/fleet/launcher.h"
#include "tuner/fleet/batch_command.h"
#include "tuner/fleet/slurm_end.h"
#include "tuner/fleet/slurm_jobs.h"

enum { NODES_MAX = 10000 };
static const double PING_SECONDS = 5, ASK_SECONDS = 10;

struct slurm {
	struct arena *arena;
	char name[SLURM_JOBS_NAME]; /* name of its jobs and steps, which no other run has */
	bool inside;                /* inside an allocation */
	const char *const **nodes;  /* command line of each */
	size_t count;
};

/* The controller answers `scontrol ping` with "Slurmctld(primary) at HOST is UP" (scontrol(1)). */
static void slurm_probe(struct launcher_probe *probe) {
	static const char *const programs[] = {"srun", "scontrol", "squeue", "scancel"};
	static const char *const ping[] = {"scontrol", "ping", NULL};
	char said[120] = "";
	int status;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (!batch_command_found(programs[i])) {
			snprintf(probe->reason, sizeof probe->reason, "%s was not found in PATH", programs[i]);
			snprintf(probe->fix, sizeof probe->fix, "run it on a login node, where Slurm's commands are installed");
			return;
		}
	char *text = batch_command(ping, PING_SECONDS, &status, said, sizeof said);
	probe->usable = strstr(text, " is UP");
	if (!probe->usable) {
		snprintf(probe->reason, sizeof probe->reason, "Slurm's controller can't be reached%s%s", *said ? ": " : "",
		         said);
		snprintf(probe->fix, sizeof probe->fix, "see `scontrol ping` and `sinfo`; SLURM_CONF names the configuration");
	}
	free(text);
}

/* The nodes of the allocation, one per line. */
static char *hosts_list(struct err *err) {
	const char *list = getenv("SLURM_JOB_NODELIST");
	const char *const argv[] = {"scontrol", "show", "hostnames", list, NULL};
	char said[160] = "";
	int status = -1;
	char *text = list && *list != '-' ? batch_command(argv, ASK_SECONDS, &status, said, sizeof said) : mem_strdup("");
	if (status == 0 && *text)
		return text;
	free(text);
	err_set(err, ERR_UNAVAILABLE, "see `scontrol show hostnames`; without SLURM_JOB_ID set, jobs are submitted instead",
	        "the nodes of this allocation cannot be listed: %s", *said ? said : "SLURM_JOB_NODELIST is empty");
	return NULL;
}

static size_t words_count(const char *const *words) {
	size_t count = 0;
	while (words && words[count])
		count++;
	return count;
}

static const char *const *argv_make(struct slurm *slurm, const struct launcher_settings *settings, const char *host) {
	/* --exclusive without -n gives the job, and with it the step, all CPUs of the node; with -n1 the step has only one
	 * (tried). Inside an allocation it is the other way round: a step has all CPUs of the job on its node unless it is
	 * exclusive. */
	const char *const job[] = {"srun", "-N1", "--exclusive", NULL};
	const char *const step[] = {"srun", "-N1", "-n1", "-w", host, NULL};
	/* The worker binds its threads itself and does not use MPI. */
	const char *const common[] = {arena_printf(slurm->arena, "--job-name=%s", slurm->name), "--cpu-bind=none",
	                              "--mpi=none", "--quit-on-interrupt", NULL};
	const char *const worker[] = {arena_strdup(slurm->arena, settings->worker), NULL};
	const char *const *const parts[] = {host ? step : job, common, settings->words, worker};
	size_t count = 0, size = 1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		size += words_count(parts[i]);
	const char **argv = arena_alloc(slurm->arena, size, sizeof *argv);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		for (const char *const *word = parts[i]; word && *word; word++)
			argv[count++] = arena_strdup(slurm->arena, *word);
	return argv;
}

static void node_add(struct slurm *slurm, const struct launcher_settings *settings, const char *host) {
	slurm->nodes = mem_grow(slurm->nodes, slurm->count + 1, sizeof *slurm->nodes);
	slurm->nodes[slurm->count++] = argv_make(slurm, settings, host);
}

static int steps_add(struct slurm *slurm, const struct launcher_settings *settings, struct err *err) {
	char *hosts = hosts_list(err), *rest = hosts;
	if (!hosts)
		return -1;
	for (char *host; (host = strsep(&rest, "\n"));)
		if (*host && (!settings->nodes || slurm->count < settings->nodes))
			node_add(slurm, settings, host);
	free(hosts);
	if (slurm->count >= settings->nodes)
		return 0;
	return err_set(err, ERR_USAGE, "ask for more with salloc, or leave --nodes out",
	               "this allocation has only %zu node(s)", slurm->count);
}

static void slurm_free(struct slurm *slurm) {
	arena_free(slurm->arena);
	free(slurm->nodes);
	free(slurm);
}

static void *slurm_open(const struct launcher_settings *settings, size_t *nodes, struct err *err) {
	const char *job = getenv("SLURM_JOB_ID");
	if (settings->nodes > NODES_MAX) {
		err_set(err, ERR_USAGE, NULL, "at most %d nodes are possible", NODES_MAX);
		return NULL;
	}
	struct slurm *slurm = mem_alloc(1, sizeof *slurm);
	slurm->arena = arena_new();
	slurm->inside = job && *job;
	slurm_jobs_name(slurm->name);
	int failed = slurm->inside ? steps_add(slurm, settings, err) : 0;
	while (!failed && !slurm->inside && slurm->count < (settings->nodes ? settings->nodes : 1))
		node_add(slurm, settings, NULL);
	*nodes = slurm->count;
	if (!failed)
		return slurm;
	slurm_free(slurm);
	return NULL;
}

static const char *const *slurm_argv(const void *state, size_t node) {
	const struct slurm *slurm = state;
	return slurm->nodes[node];
}

static bool slurm_lost(const void *state, const struct worker_end *end, struct worker_loss *loss) {
	(void)state;
	return slurm_end_lost(end, loss);
}

static void slurm_queued(const void *state, char *why, size_t size) {
	const struct slurm *slurm = state;
	slurm_jobs_queued(slurm->name, why, size);
}

static void slurm_end(const void *state, struct err *left) {
	const struct slurm *slurm = state;
	if (!slurm->inside)
		slurm_jobs_end(slurm->name, left);
}

static void slurm_close(void *state) {
	slurm_free(state);
}

const struct launcher launcher_slurm = {
	.name = "slurm",
	.summary = "workers on cluster nodes through srun: steps of this allocation, or queued jobs",
	.elsewhere = true,
	.end_signal = SIGTERM, /* lets srun end its job, which SIGKILL would not */
	.end_seconds = 10,
	.probe = slurm_probe,
	.open = slurm_open,
	.argv = slurm_argv,
	.lost = slurm_lost,
	.queued = slurm_queued,
	.end = slurm_end,
	.close = slurm_close,
};
