/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/sys.h"
#include "base/text.h"
#include "worker/program/program_impl.h"

static void program_procfs_start(struct program_procfs *procfs) {
	perf_group_start(&procfs->tree);
}

/* Minor faults of a task and of its children that it has waited for: fields 10 and 11 of proc(5). */
static bool faults_read(const char *path, unsigned long *own, unsigned long *below) {
	char line[512];
	const char *after = sys_read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
	return after && sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %lu", own, below) == 2;
}

/* Threads and children show in the figures of the whole process. */
static bool was_alone(int pid) {
	unsigned long all, thread, below, ignored;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (!faults_read(path, &all, &below))
		return false;
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
	return faults_read(path, &thread, &ignored) && all == thread && below == 0;
}

/* A line such as "nr_switches : 12"; NAN if it is missing. */
static double sched_number(const char *text, const char *name) {
	const char *at = strstr(text, name), *colon = at ? strchr(at, ':') : NULL;
	double value;
	return colon && sscanf(colon + 1, "%lf", &value) == 1 ? value : NAN;
}

static void program_procfs_leader(pid_t pid, struct program_leader *leader) {
	enum { FILE_SIZE = 16384 };
	char path[64], line[128], text[FILE_SIZE];
	unsigned long long delay;
	*leader = (struct program_leader){.migrations = NAN, .run_delay_s = NAN};
	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
	if (sys_read_line(path, line, sizeof line) && sscanf(line, "%*u %llu", &delay) == 1)
		leader->run_delay_s = (double)delay * 1e-9;
	snprintf(path, sizeof path, "/proc/%d/sched", (int)pid);
	FILE *file = fopen(path, "re");
	if (file) {
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		double switches = sched_number(text, "nr_switches");
		leader->migrations = sched_number(text, "nr_migrations");
		leader->read = !isnan(switches);
		leader->switches = leader->read ? (long)switches : 0;
	}
	leader->alone = was_alone((int)pid);
}

static bool migrations_count(struct program_procfs *procfs, double *migrations) {
	if (procfs->tree.count == 0 || perf_group_stop(&procfs->tree) != 0)
		return false;
	*migrations = (double)perf_group_counted(&procfs->tree, 0).value;
	return true;
}

/* The last switch, away from the dead thread, may be in one account and not yet in the other. */
static const char *why_unknown(const struct program_leader *leader, const struct rusage *usage, bool strays) {
	enum { LAST_SWITCHES = 1 };
	if (!leader->read)
		return "the kernel does not offer /proc/PID/sched";
	if (strays || !leader->alone || usage->ru_nvcsw + usage->ru_nivcsw > leader->switches + LAST_SWITCHES)
		return "known only for programs with one thread and no children";
	return NULL;
}

/* Call it after everything has ended. usage: of the whole tree; strays: a process outlived the leader. */
static struct program_extra program_procfs_stop(struct program_procfs *procfs, const struct program_leader *leader,
                                                const struct rusage *usage, bool strays) {
	const char *why = why_unknown(leader, usage, strays);
	struct program_extra extra = {.migrations = why ? NAN : leader->migrations,
	                              .run_delay_s = why ? NAN : leader->run_delay_s,
	                              .no_migrations = why ? why : "the kernel does not count them",
	                              .no_run_delay = why ? why : "the kernel does not count it"};
	if (why && procfs->tree.count == 0) {
		extra.no_migrations = "known only for programs with one thread and no children, or where perf may count in the "
							  "kernel: sudo sysctl kernel.perf_event_paranoid=1";
	}
	double counted;
	if (migrations_count(procfs, &counted))
		extra.migrations = counted;
	return extra;
}

enum {
	RUN_TAIL = 64 * 1024,
	RUN_PIPE = 1 << 20,
	RUN_LEFT = 64 /* times to read after the end */
};
static const double RUN_GRACE_S = 0.5, RUN_KILL_S = 5, RUN_SLICE_S = 3600, RUN_POLL_S = 0.001;

/* A program while it runs. */
struct flight {
	const struct program_place *place;
	const struct program_command *command;
	struct program_run *run;
	pid_t pid;
	int pidfd, out, err; /* -1 when closed or unused */
	double start;
	bool ended, abandoned;
};

/* True if more may be readable at once. */
static bool out_read(struct flight *flight) {
	ssize_t got = program_output_read(flight->command->output, flight->out);
	if (proc_is_final(got))
		proc_shut(&flight->out);
	return got > 0;
}

static bool err_read(struct flight *flight) {
	ssize_t got = tail_fill(&flight->run->tail, flight->err);
	if (proc_is_final(got))
		proc_shut(&flight->err);
	return got > 0;
}

/* Take the time before anything else. */
static void look(struct flight *flight) {
	if (proc_has_ended(flight->pid)) {
		flight->run->seconds = sys_now() - flight->start;
		flight->ended = true;
	}
}

/* Waits once, at most `seconds`, for its end, its output, or the hang-up of the client. */
static void pump(struct flight *flight, double seconds) {
	struct pollfd fds[] = {{.fd = flight->pidfd, .events = POLLIN},
	                       {.fd = flight->out, .events = POLLIN},
	                       {.fd = flight->err, .events = POLLIN},
	                       {.fd = flight->abandoned ? -1 : flight->place->watch, .events = POLLRDHUP}};
	double wait = fmax(0, fmin(seconds, flight->pidfd < 0 ? RUN_POLL_S : RUN_SLICE_S));
	if (proc_poll(fds, sizeof fds / sizeof *fds, wait) < 0)
		return;
	if (fds[0].revents || flight->pidfd < 0)
		look(flight);
	if (fds[1].revents)
		out_read(flight);
	if (fds[2].revents)
		err_read(flight);
	flight->abandoned = flight->abandoned || fds[3].revents;
}

static bool refused(const struct flight *flight) {
	return flight->command->output && flight->command->output->failure[0];
}

static void fly_until(struct flight *flight, double deadline) {
	for (double left; !flight->ended && !flight->abandoned && !refused(flight) && (left = deadline - sys_now()) > 0;)
		pump(flight, left);
}

/* Runs to its end, or to the point where it must be killed. */
static void fly(struct flight *flight) {
	fly_until(flight, flight->command->seconds > 0 ? flight->start + flight->command->seconds : INFINITY);
	flight->run->end = flight->abandoned ? PROGRAM_ABANDONED : refused(flight) ? PROGRAM_REFUSED : PROGRAM_ENDED;
	if (flight->ended || flight->run->end != PROGRAM_ENDED)
		return;
	flight->run->end = PROGRAM_LATE;
	kill(-flight->pid, SIGTERM);
	fly_until(flight, sys_now() + RUN_GRACE_S);
	if (flight->abandoned)
		flight->run->end = PROGRAM_ABANDONED;
}

/* Each name once, as many as fit. */
static void left_add(void *ctx, const char *name) {
	struct program_run *run = ctx;
	size_t used = strlen(run->left), length = strlen(name);
	for (const char *at = run->left; (at = strstr(at, name)); at += length ? length : 1)
		if ((at == run->left || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return;
	if (used + length + 3 < sizeof run->left)
		snprintf(run->left + used, sizeof run->left - used, "%s%s", used ? ", " : "", name);
}

/* The leader's id, and its group's, stay its own until it is reaped. One that has ended by itself is reaped first, so
 * that all children are processes that it leaves behind. */
static void land(struct flight *flight) {
	struct program_run *run = flight->run;
	struct program_leader leader = {.migrations = NAN, .run_delay_s = NAN};
	struct rusage usage = {.ru_maxrss = 0};
	double deadline = sys_now() + RUN_KILL_S;
	bool alone = flight->ended && run->end == PROGRAM_ENDED;
	if (!alone)
		kill(-flight->pid, SIGKILL);
	while (!flight->ended && sys_now() < deadline) {
		pump(flight, RUN_POLL_S);
		look(flight);
	}
	if (flight->command->procfs)
		program_procfs_leader(flight->pid, &leader);
	if (!proc_collect(flight->pid, &run->status, &usage))
		run->end = run->end == PROGRAM_ABANDONED ? PROGRAM_ABANDONED : PROGRAM_STUCK;
	run->usage = usage;
	if (alone) {
		reap_living(left_add, run);
		text_clean(run->left, false);
	}
	if (reap_strays(RUN_KILL_S, &run->usage) > 0 && run->end != PROGRAM_ABANDONED) {
		run->end = PROGRAM_REMAINS;
		reap_names(run->remains, sizeof run->remains);
	}
	bool strays = memcmp(&run->usage, &usage, sizeof usage) != 0;
	if (flight->command->procfs)
		run->extra = program_procfs_stop(flight->command->procfs, &leader, &run->usage, strays);
}

/* Reads the rest of the pipes, whose writers are dead. */
static void drain(struct flight *flight) {
	for (int i = 0; i < RUN_LEFT && flight->out >= 0 && !refused(flight) && out_read(flight); i++)
		continue;
	for (int i = 0; i < RUN_LEFT && flight->err >= 0 && err_read(flight); i++)
		continue;
}

static int pipes_open(int out[2], int err[2], bool wanted, struct err *why) {
	if ((wanted && proc_pipe(out) != 0) || proc_pipe(err) != 0)
		return err_set(why, ERR_FAILED, "raise the limit on open files", "cannot make a pipe: %s", strerror(errno));
	if (wanted) {
		fcntl(out[0], F_SETPIPE_SZ, RUN_PIPE); /* may be refused; then its reader wakes up more often */
		fcntl(out[0], F_SETFL, O_NONBLOCK);
	}
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void launch(struct flight *flight, int out[2], int err[2]) {
	const struct program_place *place = flight->place;
	const struct program_command *command = flight->command;
	const struct proc_spec spec = {.argv = command->argv,
	                               .cwd = place->cwd,
	                               .address_space = UINT64_MAX /* the worker's own limit does not apply to it */,
	                               .file_size = place->file_limit,
	                               .no_core = true,
	                               .session = true};
	const int fds[3] = {command->in >= 0 ? command->in : place->nothing,
	                    command->output   ? out[1]
	                    : command->joined ? err[1]
	                                      : place->nothing,
	                    err[1]};
	if (command->procfs)
		program_procfs_start(command->procfs);
	flight->start = sys_now();
	flight->pid = proc_launch(&spec, place->environment, fds, &flight->run->err);
	if (flight->pid < 0)
		flight->run->end = PROGRAM_UNSTARTED;
	flight->pidfd = flight->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, flight->pid, 0);
	proc_shut(&out[1]);
	proc_shut(&err[1]);
	flight->out = out[0];
	flight->err = err[0];
	out[0] = err[0] = -1;
}

void program_run(const struct program_place *place, const struct program_command *command, struct program_run *run) {
	struct flight flight = {
		.place = place, .command = command, .run = run, .pid = -1, .pidfd = -1, .out = -1, .err = -1};
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	run->end = PROGRAM_UNSTARTED;
	run->left[0] = '\0';
	run->tail.keep = RUN_TAIL;
	run->tail.used = 0;
	if (reap_strays(RUN_KILL_S, NULL) > 0) { /* nothing is measured beside the remains of another run */
		run->end = PROGRAM_REMAINS;
		reap_names(run->remains, sizeof run->remains);
		return;
	}
	if (pipes_open(out, err, command->output, &run->err) == 0)
		launch(&flight, out, err);
	if (flight.pid > 0) {
		fly(&flight);
		land(&flight);
		drain(&flight);
		if (run->end == PROGRAM_ENDED && refused(&flight))
			run->end = PROGRAM_REFUSED;
	}
	for (int i = 0; i < 2; i++) {
		proc_shut(&out[i]);
		proc_shut(&err[i]);
	}
	proc_shut(&flight.out);
	proc_shut(&flight.err);
	proc_shut(&flight.pidfd);
}
