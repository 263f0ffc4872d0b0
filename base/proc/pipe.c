/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "base/proc/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int proc_poll_check(struct err *err) {
	for (int tries = 0; proc_poll(NULL, 0, 0) < 0; tries++)
		if (tries >= (errno == EINTR ? 100 : 1))
			return err_set(err, ERR_FAILED, "does a sandbox forbid ppoll?", "cannot wait for processes: ppoll: %s",
			               strerror(errno));
	return 0;
}

bool proc_has_ended(pid_t pid) {
	siginfo_t info = {.si_pid = 0};
	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

/* The system call, unlike the function, also reports the usage. */
static bool collect_otherwise(pid_t pid, int *status, struct rusage *usage) {
	siginfo_t info = {.si_pid = 0};
	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG, usage) < 0) {
		*status = W_EXITCODE(255, 0);
		return errno == ECHILD;
	}
	*status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status & 255, 0) : W_EXITCODE(0, info.si_status);
	return info.si_pid == pid;
}

bool proc_collect(pid_t pid, int *status, struct rusage *usage) {
	memset(usage, 0, sizeof *usage);
	pid_t ended = wait4(pid, status, WNOHANG, usage);
	return ended == pid || (ended < 0 && errno != EINTR && collect_otherwise(pid, status, usage));
}
