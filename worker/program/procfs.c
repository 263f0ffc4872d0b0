/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/procfs.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

void program_procfs_open(struct program_procfs *procfs) {
	procfs->tree.tree = true;
	perf_group_add(&procfs->tree, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS);
	if (procfs->tree.user_only) { /* perf would count 0 */
		program_procfs_close(procfs);
	}
}

void program_procfs_close(struct program_procfs *procfs) {
	perf_group_close(&procfs->tree);
}

void program_procfs_start(struct program_procfs *procfs) {
	perf_group_start(&procfs->tree);
}

/* Minor faults of a task and of its children that it has waited for: fields 10 and 11 of proc(5). */
static bool faults_read(const char *path, unsigned long *own, unsigned long *below) {
	char line[512];
	const char *after = sys_read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
	return after && sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %lu %lu", own, below) == 2;
}

/* Threads and children show in the figures of the whole process. */
static bool was_alone(int pid) {
	unsigned long all, thread, below, ignored;
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	if (!faults_read(path, &all, &below)) {
		return false;
	}
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, pid);
	return faults_read(path, &thread, &ignored) && all == thread && below == 0;
}

/* A line such as "nr_switches : 12"; NAN if it is missing. */
static double sched_number(const char *text, const char *name) {
	const char *at = strstr(text, name), *colon = at ? strchr(at, ':') : NULL;
	double value;
	return colon && sscanf(colon + 1, "%lf", &value) == 1 ? value : NAN;
}

void program_procfs_leader(pid_t pid, struct program_leader *leader) {
	enum { FILE_SIZE = 16384 };
	char path[64], line[128], text[FILE_SIZE];
	unsigned long long delay;
	*leader = (struct program_leader){.migrations = NAN, .run_delay_s = NAN};
	snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
	if (sys_read_line(path, line, sizeof line) && sscanf(line, "%*u %llu", &delay) == 1) {
		leader->run_delay_s = (double)delay * 1e-9;
	}
	snprintf(path, sizeof path, "/proc/%d/sched", (int)pid);
	FILE *file = fopen(path, "re");
	if (file) {
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
		double switches = sched_number(text, "nr_switches");
		leader->migrations = sched_number(text, "nr_migrations");
		leader->read = !isnan(switches);
		leader->switches = leader->read ? (long)switches : 0;
	}
	leader->alone = was_alone((int)pid);
}

static bool migrations_count(struct program_procfs *procfs, double *migrations) {
	if (procfs->tree.count == 0 || perf_group_stop(&procfs->tree) != 0) {
		return false;
	}
	*migrations = (double)perf_group_counted(&procfs->tree, 0).value;
	return true;
}

/* The last switch, away from the dead thread, may be in one account and not yet in the other. */
static const char *why_unknown(const struct program_leader *leader, const struct rusage *usage, bool strays) {
	enum { LAST_SWITCHES = 1 };
	if (!leader->read) {
		return "the kernel does not offer /proc/PID/sched";
	}
	if (strays || !leader->alone || usage->ru_nvcsw + usage->ru_nivcsw > leader->switches + LAST_SWITCHES) {
		return "known only for programs with one thread and no children";
	}
	return NULL;
}

struct program_extra program_procfs_stop(struct program_procfs *procfs, const struct program_leader *leader,
                                         const struct rusage *usage, bool strays) {
	const char *why = why_unknown(leader, usage, strays);
	struct program_extra extra = {.migrations = why ? NAN : leader->migrations,
	                              .run_delay_s = why ? NAN : leader->run_delay_s,
	                              .no_migrations = why ? why : "the kernel does not count them",
	                              .no_run_delay = why ? why : "the kernel does not count it"};
	if (why && procfs->tree.count == 0) {
		extra.no_migrations = "known only for programs with one thread and no children, or where perf may count in the "
							  "kernel: sudo sysctl kernel.perf_event_paranoid=1";
	}
	double counted;
	if (migrations_count(procfs, &counted)) {
		extra.migrations = counted;
	}
	return extra;
}
