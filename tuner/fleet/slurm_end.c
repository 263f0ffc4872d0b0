/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds out how a Slurm job ended. The messages of srun and slurmstepd were tried with Slurm 22.05.8 and looked up in
 * its sources: src/slurmd/slurmstepd/req.c (_handle_signal_container: "*** STEP .. ON .. CANCELLED AT .. DUE TO ..."),
 * src/api/step_launch.c ("Node failure on"), src/srun/libsrun/allocate.c. For states see squeue(1), JOB STATE CODES,
 * and scontrol(1), NODES - STATE. */
#include <config.h>

#include "tuner/fleet/slurm_end.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/json/js.h"
#include "tuner/fleet/batch_command.h"
#include "tuner/fleet/end_sign.h"

static const double ASK_SECONDS = 10;

/* The first match counts, so that messages with a cause come before those that only report the end. "Force Terminated"
 * is not listed because srun also prints it after a task that crashed by itself. */
static const struct end_sign said_signs[] = {
	{"DUE TO TIME LIMIT", "its job reached its time limit", false},
	{"DUE TO PREEMPTION", "its job was preempted", false},
	{"DUE TO NODE FAILURE", "its node failed", false},
	{"Node failure on", "its node failed", false},
	{"CANCELLED AT", "its job was cancelled", false},
	{"has been revoked", "its job was cancelled", false},
	{"Job has been cancelled", "its job was cancelled", false},
	{"Job/step already completing or completed", "its job is over", false},
	{"Job step aborted", "its job was cancelled", false},
	{"Socket timed out", "Slurm did not answer", false},
	{"Communication connection failure", "Slurm did not answer", false},
	{"Unable to contact slurm controller", "Slurm did not answer", false},
	{"Timed out waiting for job step", "Slurm did not answer", false},
	{"Unable to create step", "Slurm did not start the step", true},
	{"Unable to allocate resources", "Slurm did not allocate a node", true},
	{"launch failed", "Slurm could not start it", true},
	{"Aborting, io error", "the connection to its node broke", false},
	{0},
};

static const struct end_sign job_signs[] = {
	{"TIMEOUT", "its job reached its time limit", false},
	{"DEADLINE", "its job reached its deadline", false},
	{"PREEMPTED", "its job was preempted", false},
	{"NODE_FAIL", "its node failed", false},
	{"BOOT_FAIL", "its node failed", false},
	{"CANCELLED", "its job was cancelled", false},
	{"SUSPENDED", "its job was suspended", false},
	{"STOPPED", "its job was stopped", false},
	{0},
};

static const struct end_sign node_signs[] = {
	{"*", "its node does not respond", false},
	{"NOT_RESPONDING", "its node does not respond", false},
	{"DOWN", "its node is down", false},
	{"FAIL", "its node failed", false},
	{0},
};

/* "srun: error: n1: task 0: Killed" */
static const struct end_sign killed_signs[] = {
	{": Killed\n", "its worker was killed", false},
	{": Terminated\n", "its worker was killed", false},
	{0},
};

/* True for lines of Slurm itself, as opposed to output of the worker: "srun: ", "slurmstepd: error: ", "slurmstepd-n1:
 * ". */
static bool is_slurms(const char *line) {
	return strncmp(line, "srun: ", 6) == 0 || strncmp(line, "slurmstepd", 10) == 0;
}

/* Keeps only Slurm's own lines. NULL without memory, or if a task ran out of memory: that task was stopped for what it
 * did itself. */
static char *own_lines(const char *said) {
	char *own = calloc(strlen(said) + 2, 1), *out = own;
	for (const char *line = said; own && *line;) {
		size_t length = strcspn(line, "\n");
		if (is_slurms(line)) {
			memcpy(out, line, length);
			out += length;
			*out++ = '\n';
		}
		line += length + (line[length] == '\n');
	}
	if (own && !strstr(own, "oom") && !strstr(own, "Out Of Memory"))
		return own;
	free(own);
	return NULL;
}

static bool find_own(const struct end_sign *signs, const char *said, char *reason, size_t size) {
	char *own = own_lines(said);
	bool found = own && end_sign_find(signs, own, reason, size);
	free(own);
	return found;
}

bool slurm_end_said(const char *said, char *reason, size_t size) {
	return find_own(said_signs, said, reason, size);
}

bool slurm_end_killed(const char *said, char *reason, size_t size) {
	return find_own(killed_signs, said, reason, size);
}

/* Reads "Key=value" from a record of one line. */
static bool field(const char *record, const char *key, char *value, size_t size) {
	const char *at = strstr(record, key);
	if (!at)
		return false;
	at += strlen(key);
	snprintf(value, size, "%.*s", (int)strcspn(at, " \n"), at);
	return true;
}

bool slurm_end_job(const char *record, char *reason, size_t size) {
	char state[64];
	return field(record, "JobState=", state, sizeof state) && end_sign_find(job_signs, state, reason, size);
}

bool slurm_end_node(const char *record, char *reason, size_t size) {
	char state[128];
	return field(record, " State=", state, sizeof state) && end_sign_find(node_signs, state, reason, size);
}

static char *show(const char *what, const char *name) {
	const char *const argv[] = {"scontrol", "-o", "show", what, name, NULL};
	int status;
	return batch_command(argv, ASK_SECONDS, &status, NULL, 0);
}

/* The name comes from the answer of a worker, so it must not look like an option of a command. */
static bool is_name(const char *text) {
	return isalnum((unsigned char)*text) && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	                                                           "0123456789._-")];
}

static bool asked(const char *what, const char *name, bool (*judge)(const char *, char *, size_t), char *reason,
                  size_t size) {
	char *record = is_name(name) ? show(what, name) : NULL;
	bool lost = record && judge(record, reason, size);
	free(record);
	return lost;
}

static bool is_outside(const struct worker_end *end, char *reason, size_t size) {
	return slurm_end_said(end->said, reason, size) ||
	       asked("job", js_string_or(end->machine, "job", ""), slurm_end_job, reason, size) ||
	       (end->silent && asked("node", js_string_or(end->machine, "node", ""), slurm_end_node, reason, size));
}

/* The exit status is not used, because it is 0 after a node failure and 128 or more after any signal. */
bool slurm_end_lost(const struct worker_end *end, struct worker_loss *loss) {
	bool outside = is_outside(end, loss->reason, sizeof loss->reason);
	bool killed = !outside && slurm_end_killed(end->said, loss->reason, sizeof loss->reason);
	bool never = !end->machine; /* it never answered, so that no trial can be to blame */
	if (never && !outside && !killed)
		end_never_started(end->said, loss);
	loss->outside = outside || never;
	return outside || killed || never;
}
