/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers with flux run, one job for each node. The options follow flux-run(1), and the messages follow
 * src/cmd/job/attach.c of flux-core. Only stand-ins of Flux's commands were tried (doc/fleet.md). */
#include <signal.h>

#include "tuner/fleet/fleet_impl.h"

static const double ASK_SECONDS = 10, END_SECONDS = 20;

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

static int flux_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	slurm_jobs_name(launched->name);
	/* The worker binds its threads itself and has the whole node. Its answers must not wait for a batch of output. */
	const char *name = arena_printf(launched->arena, "--job-name=%s", launched->name);
	const char *const first[] = {"flux", "run", "-N1", "-n1", "--exclusive", name, NULL};
	const char *const more[] = {"--unbuffered", "--setopt=cpu-affinity=off", NULL};
	/* "kept" ends what its program leaves behind when Flux passes SIGTERM on */
	const char *const worker[] = {settings->worker, "kept", NULL};
	const char *const *const parts[] = {first, more, settings->words, worker};
	if (launched_nodes_check(settings, err))
		return -1;
	launched_add_all(launched, settings, parts, sizeof parts / sizeof *parts);
	return 0;
}

static bool flux_lost(const struct worker_end *end, struct worker_loss *loss) {
	const char *exception = strstr(end->said, ": job.exception ");
	bool outside = exception && end_sign_find(outside_signs, exception, loss->reason, sizeof loss->reason);
	bool killed = !outside && end_sign_find(killed_signs, end->said, loss->reason, sizeof loss->reason);
	return end_lost(end, outside, killed, loss);
}

/* SIGTERM reaches jobs that run (flux-job(1)); others wait in the queue until somebody cancels them. */
static void flux_end(const struct launched *launched, struct err *left) {
	const char *const argv[] = {"flux", "pkill", "--wait", arena_printf(launched->arena, "name:%s", launched->name),
	                            NULL};
	int status;
	free(batch_command(argv, END_SECONDS, &status, NULL, 0));
	if (status == -1) {
		err_set(left, ERR_UNAVAILABLE, NULL, "jobs of this run may still hold nodes, because Flux does not answer");
		err_hint(left, "`flux pkill name:%s` ends them", launched->name);
	}
}

const struct launcher launcher_flux = {
	.name = "flux",
	.summary = "workers on nodes of an instance of Flux through flux run, each a job",
	.elsewhere = true,
	.end_signal = SIGTERM,
	.end_seconds = 10,
	.probe = flux_probe,
	.open = flux_open,
	.lost = flux_lost,
	.end = flux_end,
};
