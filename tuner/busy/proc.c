/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/busy/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

enum { LINE = 1024 };

static double ticks(void) {
	long hertz = sysconf(_SC_CLK_TCK);
	return hertz > 0 ? (double)hertz : 100;
}

double proc_tick(void) {
	return 1 / ticks();
}

/* user nice system idle iowait irq softirq steal: proc(5) */
static bool cpu_read(const char *line, int *cpu, double *busy, double *steal) {
	unsigned long long t[8] = {0};
	int read = sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", cpu, &t[0], &t[1], &t[2], &t[3], &t[4],
	                  &t[5], &t[6], &t[7]);
	*busy = (double)(t[0] + t[1] + t[2] + t[5] + t[6]) / ticks();
	*steal = (double)t[7] / ticks();
	return read >= 5;
}

bool proc_times_read(FILE *file, bool (*allowed)(void *ctx, int cpu), void *ctx, struct proc_times *times) {
	char line[LINE];
	*times = (struct proc_times){0};
	while (fgets(line, sizeof line, file)) {
		int cpu;
		double busy, steal;
		if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
			continue;
		if (!cpu_read(line, &cpu, &busy, &steal) || !allowed(ctx, cpu))
			continue;
		times->busy_s += busy;
		times->steal_s += steal;
		times->processors++;
	}
	return times->processors > 0;
}

struct process {
	pid_t pid, parent;
	double seconds;
	bool ours;
};

/* The name in parentheses may contain anything, so the fields are counted from its last one. */
static bool process_read(const char *folder, const char *name, struct process *process) {
	char line[LINE];
	char *path = mem_printf("%s/%s/stat", folder, name);
	bool got = sys_read_line(path, line, sizeof line);
	free(path);
	char *after = got ? strrchr(line, ')') : NULL;
	unsigned long user, system;
	long children_user, children_system;
	int parent;
	if (!after || sscanf(after + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &parent, &user,
	                     &system, &children_user, &children_system) != 5)
		return false;
	process->pid = (pid_t)atoi(name);
	process->parent = parent;
	process->seconds = ((double)user + (double)system + (double)children_user + (double)children_system) / ticks();
	process->ours = false;
	return true;
}

static struct process *processes_read(const char *folder, size_t *count) {
	struct process *list = NULL;
	struct dirent *entry;
	DIR *dir = opendir(folder);
	*count = 0;
	while (dir && (entry = readdir(dir))) {
		struct process one;
		if (!isdigit((unsigned char)*entry->d_name) || !process_read(folder, entry->d_name, &one))
			continue;
		list = mem_grow(list, *count + 1, sizeof *list);
		list[(*count)++] = one;
	}
	if (dir)
		closedir(dir);
	return list;
}

/* A child may precede its parent in the list, so passes over it are repeated until nothing changes. */
static void tree_mark(struct process *list, size_t count, pid_t root) {
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < count; i++) {
			bool ours = list[i].pid == root;
			for (size_t k = 0; !ours && k < count; k++)
				ours = list[k].ours && list[k].pid == list[i].parent;
			changed = changed || ours != list[i].ours;
			list[i].ours = ours;
		}
	}
}

double proc_tree_seconds(const char *folder, pid_t root) {
	size_t count;
	double seconds = 0;
	struct process *list = processes_read(folder, &count);
	tree_mark(list, count, root);
	for (size_t i = 0; i < count; i++)
		seconds += list[i].ours ? list[i].seconds : 0;
	free(list);
	return seconds;
}

double proc_load(const char *path) {
	char line[LINE], *end;
	double load = sys_read_line(path, line, sizeof line) ? strtod(line, &end) : NAN;
	return isfinite(load) && load >= 0 ? load : NAN;
}
