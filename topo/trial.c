/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc trusts the XML it reads: one changed byte can cause a segmentation fault or an endless loop. A recorded
 * machine is therefore opened in a child process first, and here only if the child survived. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/impl.h"

enum { TRIAL_SECONDS = 5 };

static void quiet(void) {
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct rlimit none = {0, 0}, cpu = {TRIAL_SECONDS, TRIAL_SECONDS};
	if (null >= 0) {
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
}

/* Sends the error; code ERR_OK means success. */
_Noreturn static void child(const char *source, int out) {
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct err err = {0};
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	quiet();
	topo_close(topo_open_directly(source, false, &err));
	_exit(write(out, &err, sizeof err) != (ssize_t)sizeof err);
}

/* Waits for the child; true if it reported before it ended. */
static bool report_read(int in, pid_t pid, struct err *report) {
	ssize_t got;
	do
		got = read(in, report, sizeof *report);
	while (got < 0 && errno == EINTR);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	report->what[sizeof report->what - 1] = report->hint[sizeof report->hint - 1] = '\0';
	return got == (ssize_t)sizeof *report; /* less than PIPE_BUF: written and read in one piece */
}

int topo_trial(const char *source, struct err *err) {
	struct err report = {0};
	int ends[2];
	pid_t pid;
	bool reported;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set(err, ERR_FAILED, NULL, "cannot check %.200s: %s", source, strerror(errno));
	pid = fork();
	if (pid == 0)
		child(source, ends[1]);
	close(ends[1]);
	reported = pid > 0 && report_read(ends[0], pid, &report);
	close(ends[0]);
	if (pid < 0)
		return err_set(err, ERR_FAILED, NULL, "cannot start a process to check %.200s: %s", source, strerror(errno));
	if (!reported)
		return err_set(err, ERR_USAGE, "record it again with lstopo FILE.xml", "%.200s is damaged: hwloc fails on it",
		               source);
	if (report.code != ERR_OK)
		return err_set(err, report.code == ERR_FAILED ? ERR_FAILED : ERR_USAGE, report.hint, "%s", report.what);
	return 0;
}
