/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/app/app.h"
#include "base/proc/pipe.h"
#include "base/sys.h"
#include "src/cmd/fleet/fleet_impl.h"

enum { TEXT_MAX = 256 << 20, CHUNK = 64 << 10 };
static const double SLICE = 0.2, PATIENCE_SECONDS = 60; /* the child needs time after SIGTERM to cancel its jobs */

struct child {
	struct app *app;
	pid_t pid;
	int out;
	int sent;        /* signals sent to it so far */
	double given_up; /* time of SIGTERM, 0 before */
	char *text;
	size_t used;
};

/* Passes Ctrl-C on: SIGINT asks the child to finish its trial, SIGTERM to give up. SIGINT is queued with sigqueue to
 * tell the child that this process has already informed the user. The child ends its jobs itself. */
static void signals_pass(struct child *child) {
	int want = *app_abandon(child->app) ? 2 : *app_interrupt(child->app) ? 1 : 0;
	if (want > child->sent) {
		sigqueue(child->pid, want == 2 ? SIGTERM : SIGINT, (union sigval){0});
		child->sent = want;
		child->given_up = want == 2 ? sys_now() : 0;
	}
	if (child->given_up > 0 && sys_now() - child->given_up > PATIENCE_SECONDS)
		kill(-child->pid, SIGKILL);
}

/* False at the end of the output, or if it is too large. */
static bool read_some(struct child *child) {
	child->text = mem_grow(child->text, child->used + CHUNK + 1, 1);
	ssize_t got = read(child->out, child->text + child->used, CHUNK);
	if (got > 0)
		child->used += (size_t)got;
	child->text[child->used] = '\0';
	return child->used < TEXT_MAX && !proc_is_final(got);
}

static int watch(struct child *child) {
	struct pollfd fd = {.fd = child->out, .events = POLLIN};
	for (bool more = true; more && !proc_has_ended(child->pid);) {
		signals_pass(child);
		if (proc_poll(&fd, 1, SLICE) > 0)
			more = read_some(child);
	}
	while (!proc_has_ended(child->pid)) {
		signals_pass(child);
		if (child->used >= TEXT_MAX)
			kill(child->pid, SIGTERM);
		proc_poll(NULL, 0, SLICE);
	}
	while (read_some(child) && proc_poll(&fd, 1, 0) > 0)
		continue;
	int status = -1;
	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static pid_t start(const char *const *argv, const char *const *set, int out, struct err *err) {
	const struct proc_spec spec = {.argv = argv, .set = set, .end_signal = SIGTERM};
	char **environment = proc_environment(NULL, set);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), in = fcntl(null, F_DUPFD_CLOEXEC, 3);
	int diagnostics = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	pid_t pid = -1;
	if (in < 0 || diagnostics < 0)
		err_set(err, ERR_FAILED, "raise the limit of open files", "cannot start %s: no file descriptors left", argv[0]);
	else
		pid = proc_launch(&spec, environment, (const int[]){in, out, diagnostics}, err);
	proc_shut(&null);
	proc_shut(&in);
	proc_shut(&diagnostics);
	free(environment);
	return pid;
}

int fleet_child_run(struct app *app, const char *const *argv, const char *const *set, char **text, struct err *err) {
	struct child child = {.app = app, .text = mem_strdup("")};
	int pipe[2], status = -1;
	*text = child.text;
	if (proc_pipe(pipe) < 0)
		return err_set(err, ERR_FAILED, "raise the limit of open files", "cannot create a pipe");
	child.pid = start(argv, set, pipe[1], err);
	proc_shut(&pipe[1]);
	child.out = pipe[0];
	if (child.pid > 0) {
		fcntl(child.out, F_SETFL, O_NONBLOCK);
		status = watch(&child);
	}
	proc_shut(&pipe[0]);
	*text = child.text;
	return status;
}
