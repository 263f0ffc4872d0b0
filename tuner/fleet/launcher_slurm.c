/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <signal.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/fleet/fleet_impl.h"

/* Finds out how a Slurm job ended. The messages of srun and slurmstepd were tried with Slurm 22.05.8 and looked up in
 * its sources: src/slurmd/slurmstepd/req.c (_handle_signal_container: "*** STEP .. ON .. CANCELLED AT .. DUE TO ..."),
 * src/api/step_launch.c ("Node failure on"), src/srun/libsrun/allocate.c. For states see squeue(1), JOB STATE CODES,
 * and scontrol(1), NODES - STATE. */
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
	mem_auto char *own = own_lines(said);
	return own && end_sign_find(signs, own, reason, size);
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
	mem_auto char *record = is_name(name) ? show(what, name) : NULL;
	return record && judge(record, reason, size);
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
	return end_lost(end, outside, killed, loss);
}

static const double GONE_SECONDS = 20, PATIENCE_SECONDS = 5;

void slurm_jobs_name(char name[LAUNCH_NAME]) {
	uint32_t drawn = (uint32_t)getpid();
	if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
		drawn ^= (uint32_t)(sys_wall() * 1e6);
	snprintf(name, LAUNCH_NAME, "sweetspot-%08x", (unsigned)drawn);
}

enum jobs { JOBS_GONE, JOBS_ENDING, JOBS_LEFT, JOBS_UNKNOWN };

/* "R", "PD", .., one per line; "CG" is a job that ends. */
static enum jobs jobs_look(const char *name) {
	const char *const argv[] = {"squeue", "-h", "--me", "-o", "%t", "-n", name, NULL};
	int status;
	char *text = batch_command(argv, ASK_SECONDS, &status, NULL, 0), *rest = text;
	enum jobs found = JOBS_GONE;
	for (char *state; (state = strsep(&rest, "\n"));)
		if (*state && found != JOBS_LEFT)
			found = strcmp(state, "CG") == 0 ? JOBS_ENDING : JOBS_LEFT;
	free(text);
	return status == 0 ? found : JOBS_UNKNOWN;
}

static void jobs_cancel(const char *name) {
	const char *const argv[] = {"scancel", "--quiet", "--me", "-n", name, NULL};
	int status;
	free(batch_command(argv, ASK_SECONDS, &status, NULL, 0));
}

/* squeue asks again and again by itself before it gives up. */
static bool is_over(enum jobs jobs, double seconds) {
	return jobs == JOBS_GONE || seconds > (jobs == JOBS_UNKNOWN ? PATIENCE_SECONDS : GONE_SECONDS);
}

/* Usually there is nothing to cancel: an srun that gets SIGTERM cancels its job itself, and one that was killed leaves
 * that to a child process. */
int slurm_jobs_end(const char *name, struct err *err) {
	double begun = sys_now();
	bool cancelled = false;
	enum jobs jobs;
	for (long nap = 100; !is_over(jobs = jobs_look(name), sys_now() - begun); nap = nap < 1000 ? 2 * nap : nap) {
		if (!cancelled && sys_now() - begun > PATIENCE_SECONDS) {
			jobs_cancel(name);
			cancelled = true;
		}
		nanosleep(&(struct timespec){.tv_sec = nap / 1000, .tv_nsec = nap % 1000 * 1000000}, NULL);
	}
	if (jobs == JOBS_GONE || jobs == JOBS_ENDING)
		return 0;
	err_set(err, ERR_UNAVAILABLE, NULL, "jobs of this run may still hold nodes, because %s",
	        jobs == JOBS_UNKNOWN ? "Slurm does not answer" : "Slurm has not ended them yet");
	return err_hint(err, "`squeue -n %s` lists them and `scancel -n %s` ends them", name, name);
}

/* Starts workers with srun: one job per node, or, inside an allocation, one step per node. The options follow srun(1)
 * of Slurm 22.05 and were tried with it; doc/fleet.md has the findings. */
static const double PING_SECONDS = 5;

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
	mem_auto char *text = batch_command(ping, PING_SECONDS, &status, said, sizeof said);
	probe->usable = strstr(text, " is UP");
	if (!probe->usable) {
		snprintf(probe->reason, sizeof probe->reason, "Slurm's controller can't be reached%s%s", *said ? ": " : "",
		         said);
		snprintf(probe->fix, sizeof probe->fix, "see `scontrol ping` and `sinfo`; SLURM_CONF names the configuration");
	}
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
	return err_null(err_set(
		err, ERR_UNAVAILABLE, "see `scontrol show hostnames`; without SLURM_JOB_ID set, jobs are submitted instead",
		"the nodes of this allocation cannot be listed: %s", *said ? said : "SLURM_JOB_NODELIST is empty"));
}

static void slurm_add(struct launched *launched, const struct launcher_settings *settings, const char *host) {
	/* --exclusive without -n gives the job, and with it the step, all CPUs of the node; with -n1 the step has only one
	 * (tried). Inside an allocation it is the other way round: a step has all CPUs of the job on its node unless it is
	 * exclusive. */
	const char *const job[] = {"srun", "-N1", "--exclusive", NULL};
	const char *const step[] = {"srun", "-N1", "-n1", "-w", host, NULL};
	/* The worker binds its threads itself and does not use MPI. */
	const char *const common[] = {arena_printf(launched->arena, "--job-name=%s", launched->name), "--cpu-bind=none",
	                              "--mpi=none", "--quit-on-interrupt", NULL};
	const char *const worker[] = {settings->worker, NULL};
	const char *const *const parts[] = {host ? step : job, common, settings->words, worker};
	launched_add(launched, parts, sizeof parts / sizeof *parts);
}

static int steps_add(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	char *hosts = hosts_list(err), *rest = hosts;
	if (!hosts)
		return -1;
	for (char *host; (host = strsep(&rest, "\n"));)
		if (*host && (!settings->nodes || launched->count < settings->nodes))
			slurm_add(launched, settings, host);
	free(hosts);
	if (launched->count >= settings->nodes)
		return 0;
	return err_set(err, ERR_USAGE, "ask for more with salloc, or leave --nodes out",
	               "this allocation has only %zu node(s)", launched->count);
}

static int slurm_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	const char *job = getenv("SLURM_JOB_ID");
	if (launched_nodes_check(settings, err))
		return -1;
	launched->inside = job && *job;
	slurm_jobs_name(launched->name);
	if (launched->inside)
		return steps_add(launched, settings, err);
	do
		slurm_add(launched, settings, NULL);
	while (launched->count < settings->nodes);
	return 0;
}

/* "ReqNodeNotAvail, UnavailableNodes:n[1-2]", as squeue(1) has it; "None" where it has not been looked at. */
static void slurm_queued(const struct launched *launched, char *why, size_t size) {
	const char *const argv[] = {"squeue", "-h", "--me", "-t", "PD", "-o", "%r", "-n", launched->name, NULL};
	int status;
	mem_auto char *text = batch_command(argv, ASK_SECONDS, &status, NULL, 0);
	text[strcspn(text, "\n")] = '\0';
	bool known = status == 0 && *text && strcmp(text, "None") != 0;
	snprintf(why, size, "%s%.150s", known ? "Slurm says " : "", known ? text : "");
}

static void slurm_end(const struct launched *launched, struct err *left) {
	if (!launched->inside)
		slurm_jobs_end(launched->name, left);
}

const struct launcher launcher_slurm = {
	.name = "slurm",
	.summary = "workers on cluster nodes through srun: steps of this allocation, or queued jobs",
	.elsewhere = true,
	.end_signal = SIGTERM, /* lets srun end its job, which SIGKILL would not */
	.end_seconds = 10,
	.probe = slurm_probe,
	.open = slurm_open,
	.lost = slurm_end_lost,
	.queued = slurm_queued,
	.end = slurm_end,
};
