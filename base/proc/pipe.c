/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc/pipe.h"
#include "base/sys.h"

/* Use descriptors above 2, because the child's dup2() would overwrite lower ones if the parent has closed its own
 * stdio. */
static int raise_above_stdio(int *fd) {
	if (*fd > STDERR_FILENO)
		return 0;
	int high = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (high < 0)
		return -1;
	close(*fd);
	*fd = high;
	return 0;
}

int proc_pipe(int pair[2]) {
	if (pipe2(pair, O_CLOEXEC) < 0) {
		pair[0] = pair[1] = -1;
		return -1;
	}
	if (raise_above_stdio(&pair[0]) == 0 && raise_above_stdio(&pair[1]) == 0)
		return 0;
	proc_shut(&pair[0]);
	proc_shut(&pair[1]);
	return -1;
}

void proc_shut(int *fd) {
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

bool proc_is_final(ssize_t got) {
	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

/* Some sandboxes deny the call, so that it fails at once, again and again. */
int proc_poll(struct pollfd *fds, nfds_t count, double seconds) {
	struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
	int found = ppoll(fds, count, &time, NULL);
	if (found < 0 && errno != EINTR) {
		int why = errno;
		nanosleep(&(struct timespec){.tv_nsec = seconds < 1e-2 ? time.tv_nsec : 10000000}, NULL);
		errno = why;
	}
	return found;
}

/* -1: it always fails here, so that nobody could wait for a child. */
static int proc_poll_check(struct err *err) {
	for (int tries = 0; proc_poll(NULL, 0, 0) < 0; tries++)
		if (tries >= (errno == EINTR ? 100 : 1))
			return err_set(err, ERR_FAILED, "does a sandbox forbid ppoll?", "cannot wait for processes: ppoll: %s",
			               strerror(errno));
	return 0;
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
/* The system call, because musl and older C libraries lack the function. */
bool proc_close_from(int first, bool at_exec) {
	enum { CLOSE_AT_EXEC = 4 };
	return syscall(SYS_close_range, first, ~0U, at_exec ? CLOSE_AT_EXEC : 0) == 0;
}

bool proc_has_ended(pid_t pid) {
	siginfo_t info = {.si_pid = 0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

/* The system call, unlike the function, also reports the usage. */
static bool collect_otherwise(pid_t pid, int *status, struct rusage *usage) {
	siginfo_t info = {.si_pid = 0};
	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG, usage) < 0) {
		*status = PROC_EXITED(255);
		return errno == ECHILD;
	}
	*status = info.si_code == CLD_EXITED ? PROC_EXITED(info.si_status & 255) : info.si_status;
	return info.si_pid == pid;
}

bool proc_collect(pid_t pid, int *status, struct rusage *usage) {
	memset(usage, 0, sizeof *usage);
	pid_t ended = wait4(pid, status, WNOHANG, usage);
	return ended == pid || (ended < 0 && errno != EINTR && collect_otherwise(pid, status, usage));
}

enum stage { STAGE_PARENT, STAGE_LIMIT, STAGE_FOLDER, STAGE_EXEC, STAGE_INTERPRETER, STAGE_DONE };

/* Sent by the child when it cannot become the program. */
struct failure {
	enum stage stage;
	int why;
};

struct launch {
	const struct proc_spec *spec;
	char *const *environment;
	const int *fds;
	int report[2]; /* {read, write} */
	pid_t parent;
};

static void close_pair(int pair[2]) {
	proc_shut(&pair[0]);
	proc_shut(&pair[1]);
}

/* exec resets handlers; ignored signals and the mask would survive it. */
static void reset_signals(void) {
	static const int signals[] = {SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGTERM, SIGCHLD};
	sigset_t none;
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int limit_memory(uint64_t bytes) {
	struct rlimit limit;
	if (bytes == 0)
		return 0;
	if (getrlimit(RLIMIT_AS, &limit) < 0)
		return -1;
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	return setrlimit(RLIMIT_AS, &limit);
}

static int limit_files(const struct proc_spec *spec) {
	struct rlimit limit;
	if (spec->no_core && setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) < 0)
		return -1;
	if (spec->file_size == 0)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -1;
	limit.rlim_cur = spec->file_size < limit.rlim_max ? spec->file_size : limit.rlim_max;
	return setrlimit(RLIMIT_FSIZE, &limit);
}

static enum stage become(const struct launch *launch) {
	const struct proc_spec *spec = launch->spec;
	if (getppid() != launch->parent) /* the parent died before prctl took effect, or one of the calls is denied */
		return STAGE_PARENT;
	if (spec->cwd && chdir(spec->cwd) < 0)
		return STAGE_FOLDER;
	if (limit_files(spec) < 0 || limit_memory(spec->address_space) < 0)
		return STAGE_LIMIT;
	execvpe(spec->argv[0], (char *const *)spec->argv, launch->environment);
	int why = errno;
	bool is_there = strchr(spec->argv[0], '/') && access(spec->argv[0], F_OK) == 0;
	errno = why;
	return why == ENOENT && is_there ? STAGE_INTERPRETER : STAGE_EXEC;
}

/* Runs between fork and exec, so nothing here allocates or locks. */
static _Noreturn void run_child(const struct launch *launch) {
	if (launch->spec->session)
		setsid();
	else
		setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, launch->spec->end_signal ? launch->spec->end_signal : SIGKILL);
	reset_signals();
	for (int i = 0; i < 3; i++)
		dup2(launch->fds[i], i);
	proc_close_from(STDERR_FILENO + 1, true); /* those that libraries opened without the flag */
	struct failure failure = {.stage = become(launch)};
	failure.why = errno;
	ssize_t put = write(launch->report[1], &failure, sizeof(failure));
	_exit(put < 0 ? 126 : 127);
}

/* Waits for exec, which closes the pipe, or for the child's report. */
static struct failure read_report(int fd) {
	struct failure failure;
	ssize_t got;
	do
		got = read(fd, &failure, sizeof(failure));
	while (got < 0 && errno == EINTR);
	return got == sizeof(failure) ? failure : (struct failure){STAGE_DONE, 0};
}

static int fail(const struct proc_spec *spec, struct failure failure, struct err *err) {
	const char *why = strerror(failure.why);
	switch (failure.stage) {
	case STAGE_PARENT:
		return err_set(err, ERR_FAILED, "does a sandbox forbid getpid or getppid?",
		               "cannot start %s: it does not know this process as its parent", spec->argv[0]);
	case STAGE_FOLDER:
		return err_set(err, ERR_FAILED, NULL, "cannot enter the folder %s: %s", spec->cwd, why);
	case STAGE_LIMIT:
		return err_set(err, ERR_FAILED, NULL, "cannot set the limits of %s: %s", spec->argv[0], why);
	case STAGE_INTERPRETER:
		return err_set(err, ERR_FAILED, "see its first line; for a binary, `file` names its loader",
		               "cannot run %s: it exists, but its interpreter does not", spec->argv[0]);
	case STAGE_EXEC:
		break;
	case STAGE_DONE:
		return 0;
	}
	return err_set(err, ERR_FAILED, failure.why == ENOENT ? "check the name and PATH" : NULL, "cannot run %s: %s",
	               spec->argv[0], why);
}

static pid_t start_child(struct launch *launch, struct err *err) {
	launch->parent = getpid();
	pid_t pid = fork();
	if (pid < 0)
		return err_set(err, ERR_FAILED,
		               sys_is_denied(errno) ? "does a sandbox forbid clone?"
		                                    : "too many processes (`ulimit -u`), or too little memory",
		               "cannot fork: %s", strerror(errno));
	if (pid == 0)
		run_child(launch);
	close(launch->report[1]);
	launch->report[1] = -1;
	struct failure failure = read_report(launch->report[0]);
	if (fail(launch->spec, failure, err) == 0)
		return pid;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return -1;
}

static int no_pipe(struct err *err) {
	return err_set(err, ERR_FAILED,
	               sys_is_denied(errno) ? "does a sandbox forbid pipe2 or fcntl?" : "raise the limit on open files",
	               "cannot make a pipe: %s", strerror(errno));
}

pid_t proc_launch(const struct proc_spec *spec, char *const *environment, const int fds[3], struct err *err) {
	struct launch launch = {.spec = spec, .environment = environment, .fds = fds};
	if (proc_poll_check(err) < 0)
		return -1;
	if (proc_pipe(launch.report) < 0)
		return no_pipe(err);
	pid_t pid = start_child(&launch, err);
	close_pair(launch.report);
	return pid;
}

static void keep_end(int *end, int *kept) {
	fcntl(*end, F_SETFL, O_NONBLOCK);
	*kept = *end;
	*end = -1;
}

pid_t proc_spawn(const struct proc_spec *spec, int ends[3], struct err *err) {
	int in[2] = {-1, -1}, out[2] = {-1, -1}, errors[2] = {-1, -1};
	char **environment = proc_environment(spec->unset, spec->set);
	pid_t pid = -1;
	if (proc_pipe(in) < 0 || proc_pipe(out) < 0 || proc_pipe(errors) < 0)
		no_pipe(err);
	else
		pid = proc_launch(spec, environment, (const int[]){in[0], out[1], errors[1]}, err);
	if (pid > 0) {
		keep_end(&in[1], &ends[0]);
		keep_end(&out[0], &ends[1]);
		keep_end(&errors[0], &ends[2]);
	}
	close_pair(in);
	close_pair(out);
	close_pair(errors);
	free(environment);
	return pid;
}
