/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc/pipe.h"
#include "base/stop.h"
#include "base/sys.h"

static const rlim_t ROOM = (rlim_t)1 << 30;
static const double PATIENCE_SECONDS = 60;
static const double SLICE_SECONDS = 0.1;

void *apart_memory(size_t size) {
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void apart_free(void *memory, size_t size) {
	if (memory)
		munmap(memory, size);
}

static void limit_set(int what, rlim_t most) {
	struct rlimit limit;
	if (getrlimit(what, &limit) != 0)
		return;
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	if (limit.rlim_cur > 0 || what == RLIMIT_CORE)
		setrlimit(what, &limit);
}

/* The address space that this process has, in bytes; 0: unknown. */
static rlim_t space_now(void) {
	char line[128];
	unsigned long pages;
	bool known = sys_read_line("/proc/self/statm", line, sizeof line) && sscanf(line, "%lu", &pages) == 1;
	return known ? (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

__attribute__((noreturn)) static void child(void (*work)(void *), void *ctx, unsigned cpu_seconds, pid_t parent) {
	rlim_t space = space_now();
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXCPU, SIG_DFL);
	limit_set(RLIMIT_CORE, 0);
	limit_set(RLIMIT_CPU, cpu_seconds);
	if (space)
		limit_set(RLIMIT_AS, space + ROOM);
	/* Libraries complain there, and buffered output of the parent must not appear twice. */
	for (int fd = 0; fd <= 2 && nothing >= 0; fd++)
		dup2(nothing, fd);
	if (getppid() == parent)
		work(ctx);
	_exit(0);
}

/* The child's end closes the pipe. */
static bool wait_end(int fd, pid_t pid) {
	struct pollfd end = {.fd = fd, .events = POLLIN};
	for (double until = sys_now() + PATIENCE_SECONDS; sys_now() < until && !stop_asked();)
		if (proc_poll(&end, 1, SLICE_SECONDS) > 0 || proc_has_ended(pid))
			return true;
	return false;
}

static int reap(pid_t pid) {
	int status = -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

bool apart_run(void (*work)(void *ctx), void *ctx, unsigned cpu_seconds) {
	int ends[2];
	pid_t parent = getpid();
	if (proc_pipe(ends) != 0)
		return false;
	pid_t pid = fork();
	if (pid == 0) {
		proc_shut(&ends[0]);
		child(work, ctx, cpu_seconds, parent);
	}
	proc_shut(&ends[1]);
	bool ended = pid > 0 && wait_end(ends[0], pid);
	if (pid > 0 && !ended)
		kill(pid, SIGKILL);
	int status = pid > 0 ? reap(pid) : -1;
	proc_shut(&ends[0]);
	return ended && status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
