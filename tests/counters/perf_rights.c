/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The perf backend where it may do less: without privileges, behind a filter of system calls. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "counters/perf/perf.h"
#include "base/rights.h"
#include "base/sys.h"
#include "tests/counters/perf_help.h"

enum { NOBODY = 65534, UNPREPARED = 77 };

/* Runs it in a child, which cannot regain the rights it drops; returns its exit status. */
static int apart(int (*work)(void)) {
	int status;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(work());
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A bit for each thing that is wrong. */
static int unprivileged(void) {
	const char *faults = "page-faults";
	char reason[COUNTER_REASON] = "";
	struct counter_value value;
	if (setgid(NOBODY) || setuid(NOBODY))
		return UNPREPARED;
	struct perf_test test = perf_test_new();
	int wrong = 0;
	wrong |= test.backend->can("context-switches", &here, reason) || !strstr(reason, PERF_UNPARANOID) ? 1 : 0;
	wrong |= !test.backend->can(faults, &here, reason) ? 2 : 0;
	bool counted = test.backend->open(test.state, &here, &faults, 1) == 0 && test.backend->start(test.state) == 0;
	pages_touch(100);
	counted = counted && test.backend->stop(test.state) == 0 && test.backend->read(test.state, &value) == 0;
	wrong |= !counted || value.value < 100 || !strstr(value.reason, "user code only") ? 4 : 0;
	perf_test_free(&test);
	return wrong;
}

static void check_unprivileged(void) {
	char level[16] = "";
	sys_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
	if (geteuid() != 0 || strcmp(level, "2") != 0) {
		tap_skip("a process without privileges counts user code only",
		         "needs root, to give it up, and kernel.perf_event_paranoid=2");
		return;
	}
	int wrong = apart(unprivileged);
	if (wrong == UNPREPARED) {
		tap_skip("without privileges", "a process without privileges counts user code only");
		return;
	}
	ok((wrong & 1) == 0, "at level 2 context switches are not counted as 0, but not at all");
	ok((wrong & 2) == 0, "page faults can be counted");
	ok((wrong & 4) == 0, "those of user code, which is said");
}

static int filter_install(void) {
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -1 : 0;
}

static int filtered(void) {
	struct counter_probe probe;
	struct rights rights;
	char reason[COUNTER_REASON] = "", level[32] = "2";
	if (filter_install() != 0)
		return UNPREPARED;
	rights_read(&rights, "");
	sys_read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
	counter_find("perf")->probe(&probe);
	bool paranoid = !rights_perf(&rights) && atoi(level) >= 3; /* then that is said first */
	int wrong = !rights.seccomp;
	wrong |= probe.usable || !strstr(probe.reason, paranoid ? "paranoid" : "seccomp") || !probe.fix[0] ? 2 : 0;
	wrong |= counter_find("perf")->can("task-clock", &here, reason) || !reason[0] ? 4 : 0;
	return wrong;
}

static void check_filtered(void) {
	int wrong = apart(filtered);
	if (wrong == UNPREPARED) {
		tap_skip("behind a filter", "no filter of system calls can be installed here");
		return;
	}
	ok((wrong & 1) == 0, "a filter of system calls is seen");
	ok((wrong & 2) == 0, "a filter of system calls is the reason, and there is a way out");
	ok((wrong & 4) == 0, "no event can be counted behind it");
}

int main(void) {
	check_unprivileged();
	check_filtered();
	return tap_done();
}
