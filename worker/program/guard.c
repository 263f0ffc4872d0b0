/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/guard.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/proc/reap.h"

bool program_guard_begin(struct program_guard *guard) {
	int adopts = 0;
	*guard = (struct program_guard){.parent = getppid()};
	prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0);
	reap_adopt();
	signal(SIGCHLD, SIG_DFL); /* if SIGCHLD were ignored the kernel would keep neither status nor usage */
	if (prctl(PR_GET_PDEATHSIG, &guard->signal, 0, 0, 0) == 0 && guard->signal) {
		prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
	}
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		getrlimit(i, &guard->limits[i]);
	}
	return !adopts;
}

bool program_guard_robbed(const struct program_guard *guard) {
	struct rlimit now;
	bool robbed = false;
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		robbed = robbed || (getrlimit(i, &now) == 0 && now.rlim_cur < guard->limits[i].rlim_cur);
	}
	return robbed;
}

/* Arm first, then check, so that a parent that dies in between is noticed by one or the other. */
bool program_guard_end(const struct program_guard *guard) {
	if (guard->signal) {
		prctl(PR_SET_PDEATHSIG, guard->signal, 0, 0, 0);
	}
	return !guard->signal || getppid() == guard->parent;
}
