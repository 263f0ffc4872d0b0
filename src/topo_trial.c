/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc trusts the XML it reads: one changed byte can end in a segmentation fault or a loop. A recorded machine is
 * therefore opened in a child process first, and only what it survives is opened here. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/topo_impl.h"

enum { TRIAL_SECONDS = 20 };

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

_Noreturn static void child(const char *source) {
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct err err;
	for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
		signal(fatal[i], SIG_DFL);
	quiet();
	topo_close(topo_open_directly(source, &err));
	_exit(0);
}

int topo_trial(const char *source, struct err *err) {
	int status = 0;
	pid_t pid = fork(), ended;
	if (pid == 0)
		child(source);
	if (pid < 0)
		return err_set(err, ERR_FAILED, NULL, "can't start a process to check %.200s: %s", source, strerror(errno));
	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended != pid)
		return err_set(err, ERR_FAILED, NULL, "can't tell how the check of %.200s ended: %s", source, strerror(errno));
	if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0)
		return err_set(err, ERR_USAGE, "record it again with lstopo FILE.xml", "%.200s: damaged, hwloc fails on it", source);
	return 0;
}
