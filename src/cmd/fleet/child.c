/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/app/app.h"
#include "src/base/mem.h"
#include "src/base/proc/pipe.h"
#include "src/base/proc/spawn.h"
#include "src/base/sys.h"
#include "src/cmd/fleet/run.h"

enum { TEXT_MAX = 256 << 20, CHUNK = 64 << 10 };
static const double SLICE = 0.2, PATIENCE_SECONDS = 60; /* after it was told to give up: it has jobs to cancel */

struct child {
	struct app *app;
	pid_t pid;
	int out;
	int told;        /* signals that went on to it */
	double given_up; /* when, 0: it was not */
	char *text;
	size_t used;
};

/* SIGINT: finish the trial, queued, since the user was told here; SIGTERM: give up. Its jobs are its own to end. */
static void signals_pass(struct child *child) {
	int want = *app_abandon(child->app) ? 2 : *app_interrupt(child->app) ? 1 : 0;
	if (want > child->told) {
		sigqueue(child->pid, want == 2 ? SIGTERM : SIGINT, (union sigval){0});
		child->told = want;
		child->given_up = want == 2 ? sys_now() : 0;
	}
	if (child->given_up > 0 && sys_now() - child->given_up > PATIENCE_SECONDS)
		kill(-child->pid, SIGKILL);
}

/* False at the end. */
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
		err_set(err, ERR_FAILED, "raise the limit of open files", "no descriptor is left for %s", argv[0]);
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
		return err_set(err, ERR_FAILED, "raise the limit of open files", "there is no pipe to be had");
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
