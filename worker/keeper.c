/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc/pipe.h"
#include "base/proc/reap.h"

enum { GRACE_SECONDS = 3, KILL_SECONDS = 2, NAMES = 200 };
static const double REAP_SECONDS = 5;

/* Another name than the worker's, so that `pkill sweetspot` leaves the process that tidies up. */
static const char NAME[] = "ss-keeper";

struct keeper {
	pid_t worker, parent;
	sigset_t signals;
};

/* The descriptors belong to the worker alone, because their end is a message to it or to the tuner. */
static void let_go(void) {
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
	}
#ifdef CLOSE_RANGE_CLOEXEC
	close_range(STDERR_FILENO + 1, ~0U, 0);
#endif
}

/* Waits for one of the signals; the end of the time is 0. */
static int signal_wait(const struct keeper *keeper, time_t seconds) {
	const struct timespec time = {.tv_sec = seconds};
	int number;
	do {
		number = sigtimedwait(&keeper->signals, NULL, &time);
	} while (number < 0 && errno == EINTR);
	return number < 0 ? 0 : number;
}

/* A worker whose tuner has died sees the end of its input. While it runs a program it tidies up by itself and ends. */
static void worker_end(const struct keeper *keeper) {
	bool orphaned = getppid() != keeper->parent;
	while (orphaned && !proc_has_ended(keeper->worker) && signal_wait(keeper, GRACE_SECONDS) != 0) {
		continue;
	}
	kill(keeper->worker, SIGKILL);
	while (!proc_has_ended(keeper->worker) && signal_wait(keeper, KILL_SECONDS) != 0) {
		continue;
	}
	if (!proc_has_ended(keeper->worker)) { /* its program traces it */
		reap_children(REAP_SECONDS);
	}
}

/* The ids of the worker and of its group stay its own until it is reaped. */
static int worker_wait(const struct keeper *keeper) {
	int status = SIGKILL; /* of a worker that worker_end() has reaped */
	while (!proc_has_ended(keeper->worker)) {
		if (signal_wait(keeper, 3600) == SIGTERM) {
			worker_end(keeper);
		}
	}
	while (waitpid(keeper->worker, &status, 0) < 0 && errno == EINTR) {
		continue;
	}
	return status;
}

static void remains_end(void) {
	char names[NAMES];
	int left = reap_children(REAP_SECONDS);
	if (left > 0) {
		reap_names(names, sizeof names);
		fprintf(stderr, "sweetspot-worker: %d processes of a program cannot be ended: %s\n", left, names);
	}
}

/* The tuner must see the end of the worker itself. */
static _Noreturn void end_as(int status) {
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t one;
	if (!number) {
		_exit(WEXITSTATUS(status));
	}
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + number);
}

static _Noreturn void keep(const struct keeper *keeper) {
	prctl(PR_SET_NAME, NAME);
	let_go();
	int status = worker_wait(keeper);
	remains_end();
	end_as(status);
}

/* Arm first, then check, so that a keeper that dies in between is noticed by one or the other. */
static void serve(pid_t keeper, const sigset_t *before) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper) {
		_exit(127);
	}
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* The tuner arms this itself (base/proc/spawn.c); sshd does not, and ends with the connection. */
static void parent_watch(void) {
	int number = 0;
	if (prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0) == 0 && number == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	}
}

int keeper_start(void) {
	struct keeper keeper = {.parent = getppid()};
	pid_t self = getpid();
	sigset_t before;
	sigemptyset(&keeper.signals);
	sigaddset(&keeper.signals, SIGCHLD);
	sigaddset(&keeper.signals, SIGTERM);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &keeper.signals, &before);
	parent_watch();
	reap_adopt();
	keeper.worker = fork();
	if (keeper.worker < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -1;
	}
	if (keeper.worker == 0) {
		serve(self, &before);
		return 0;
	}
	keep(&keeper);
}
