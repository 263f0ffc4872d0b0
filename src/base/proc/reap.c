/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/base/proc/reap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/sys.h"

int reap_adopt(void) {
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void reap_add(struct rusage *sum, const struct rusage *one) {
	timeradd(&sum->ru_utime, &one->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &one->ru_stime, &sum->ru_stime);
	sum->ru_maxrss = one->ru_maxrss > sum->ru_maxrss ? one->ru_maxrss : sum->ru_maxrss;
	sum->ru_minflt += one->ru_minflt;
	sum->ru_majflt += one->ru_majflt;
	sum->ru_nvcsw += one->ru_nvcsw;
	sum->ru_nivcsw += one->ru_nivcsw;
}

static bool has_children(void) {
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Parent, group and session follow the name and the state (proc(5)); the name may contain anything but a newline. */
static bool is_stray(pid_t pid, pid_t *group) {
	char path[40], line[512];
	int parent, session;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	const char *after = sys_read_line(path, line, sizeof(line)) ? strrchr(line, ')') : NULL;
	return after && sscanf(after + 1, " %*c %d %d %d", &parent, group, &session) == 3 && parent == getpid() &&
	       session != getsid(0);
}

/* The ids of children and of their groups stay theirs until they are reaped, so no other process can be hit. The
 * group comes first, because no member can fork once it is killed. */
static void end(pid_t pid, pid_t group, struct rusage *sum) {
	struct rusage usage;
	int status;
	if (group > 1)
		kill(-group, SIGKILL);
	kill(pid, SIGKILL);
	if (wait4(pid, &status, WNOHANG, &usage) == pid && sum)
		reap_add(sum, &usage);
}

/* Returns how many there were. */
static int sweep(struct rusage *sum) {
	DIR *dir = opendir("/proc");
	int count = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		pid_t group, pid = isdigit((unsigned char)*entry->d_name) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
		if (pid > 1 && is_stray(pid, &group)) {
			end(pid, group, sum);
			count++;
		}
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Children of a killed process become ours next, so one look after the last kill is needed. */
static int sweep_all(double seconds, struct rusage *sum) {
	double deadline = sys_now() + seconds;
	int count = 0;
	for (long nap = 100000; has_children() && (count = sweep(sum)) > 0; nap = nap < 10000000 ? 2 * nap : nap) {
		if (sys_now() > deadline)
			return count;
		nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
	}
	return 0;
}

/* No other thread may reap between finding a stray and killing it, because the id could then belong to another
 * process. */
int reap_strays(double seconds, struct rusage *sum) {
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&mutex);
	int count = sweep_all(seconds, sum);
	pthread_mutex_unlock(&mutex);
	return count;
}
