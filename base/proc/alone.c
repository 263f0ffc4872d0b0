/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc/alone.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc/apart.h"
#include "base/sys.h"

/* What a child of its own sees. */
struct seen {
	double alone, all, fewer; /* seconds; fewer: on so many cores */
};
struct tasks {
	int living, running;
};
static const double LOOK = 2e-3; /* seconds from one look to the next */
enum { CHILDREN = 1 };

static void tasks_look(pid_t pid, int depth, struct tasks *tasks);

/* The third field of `stat` is the state. A name may have brackets and blanks. */
static void task_look(pid_t pid, const char *task, int depth, struct tasks *tasks) {
	char path[64], line[4096], *rest = NULL;
	snprintf(path, sizeof path, "/proc/%d/task/%.20s/stat", (int)pid, task);
	const char *end = depth > CHILDREN && sys_read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
	tasks->living += end != NULL;
	tasks->running += end && end[1] == ' ' && end[2] == 'R';
	snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, task);
	if (!sys_read_line(path, line, sizeof line))
		return;
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		if (atoi(word) != getpid())
			tasks_look(atoi(word), depth + 1, tasks);
}

static void tasks_look(pid_t pid, int depth, struct tasks *tasks) {
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	for (struct dirent *one; folder && (one = readdir(folder));)
		if (one->d_name[0] != '.')
			task_look(pid, one->d_name, depth, tasks);
	if (folder)
		closedir(folder);
}

_Noreturn static void look(struct seen *seen, double cores, pid_t parent) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (double before = sys_now(), now; getppid() == parent; before = now) {
		struct tasks tasks = {0};
		usleep((useconds_t)(1e6 * LOOK));
		tasks_look(parent, 0, &tasks);
		now = sys_now();
		seen->alone += tasks.running == 1 ? now - before : 0;
		seen->all += tasks.living ? now - before : 0;
		seen->fewer += tasks.living ? (now - before) * fmax(1, tasks.running / cores) : 0;
	}
	_exit(0);
}

double alone_share(bool (*run)(void *ctx), void *ctx, double seconds, int most, double cores, double *slower) {
	struct seen *seen = apart_memory(sizeof *seen);
	pid_t own = getpid(), pid = seen ? fork() : -1;
	if (pid == 0)
		look(seen, cores, own);
	for (int i = 0; pid > 0 && i < most && seen->all < seconds && run(ctx); i++)
		continue;
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	bool enough = seen && seen->all >= seconds;
	double share = enough ? seen->alone / seen->all : NAN;
	*slower = enough ? seen->fewer / seen->all : NAN;
	apart_free(seen, sizeof *seen);
	return share;
}
