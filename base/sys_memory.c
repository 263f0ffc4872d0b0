/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

/* A limit that groups have, by version: the reader gets the folder of a group, and answers INFINITY for none. */
struct limit {
	const char *controller;
	double (*read)(const char *folder, bool v2);
};

static bool file_in(const char *folder, const char *name, char *line, size_t size) {
	mem_auto char *path = mem_printf("%s/%s", folder, name);
	return sys_read_line(path, line, size);
}

/* "max", or anything else that is not a number, means unlimited. */
static double memory_in(const char *folder, bool v2) {
	char line[32], *end;
	if (!file_in(folder, v2 ? "memory.max" : "memory.limit_in_bytes", line, sizeof line) || *line < '0' || *line > '9')
		return INFINITY;
	double limit = (double)strtoull(line, &end, 10);
	return *end ? INFINITY : limit;
}

/* "200000 100000" of version 2, "max 100000" for none. Version 1 has two files, and -1 for none. */
static double processors_in(const char *folder, bool v2) {
	char line[64], length[64];
	double quota = 0, period = 0;
	if (v2 && file_in(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &quota, &period) != 2)
		quota = 0;
	if (!v2 && file_in(folder, "cpu.cfs_quota_us", line, sizeof line) &&
	    file_in(folder, "cpu.cfs_period_us", length, sizeof length)) {
		quota = strtod(line, NULL);
		period = strtod(length, NULL);
	}
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* The smallest limit of a group and its ancestors. In a container the group's path may not exist in the visible
 * tree; the walk up ends at the root of that tree, which does. */
static double smallest_above(const char *mount, const char *group, const struct limit *limit, bool v2) {
	char *path = mem_strdup(group), *slash = path;
	double smallest = INFINITY;
	while (slash) {
		mem_auto char *folder = mem_printf("%s%s", mount, path);
		smallest = fmin(smallest, limit->read(folder, v2));
		if ((slash = strrchr(path, '/')))
			*slash = '\0';
	}
	free(path);
	return smallest;
}

static bool has_controller(const char *list, size_t length, const char *name) {
	for (const char *at = list, *end = list + length; at < end;) {
		size_t part = strcspn(at, ",:");
		if (part == strlen(name) && strncmp(at, name, part) == 0)
			return true;
		at += part + 1;
	}
	return false;
}

/* "0::/path" is version 2, "4:memory:/path" version 1. */
static double limit_of_line(const char *root, char *line, const struct limit *limit) {
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group || group[1] != '/')
		return INFINITY;
	bool v2 = group == controllers + 1;
	if (!v2 && !has_controller(controllers + 1, (size_t)(group - controllers - 1), limit->controller))
		return INFINITY;
	group[1 + strcspn(group + 1, "\n")] = '\0';
	mem_auto char *mount = mem_printf("%s/sys/fs/cgroup%s%s", root, v2 ? "" : "/", v2 ? "" : limit->controller);
	return smallest_above(mount, strcmp(group + 1, "/") == 0 ? "" : group + 1, limit, v2);
}

static double limit_of(const char *root, const struct limit *limit) {
	mem_auto char *path = mem_printf("%s/proc/self/cgroup", root), *line = NULL;
	FILE *file = fopen(path, "re");
	double smallest = INFINITY;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0)
		smallest = fmin(smallest, limit_of_line(root, line, limit));
	if (file)
		fclose(file);
	return smallest;
}

uint64_t sys_cgroup_memory(const char *root) {
	double limit = limit_of(root, &(struct limit){"memory", memory_in});
	return limit < (double)UINT64_MAX ? (uint64_t)limit : UINT64_MAX;
}

double sys_cgroup_processors(const char *root) {
	return limit_of(root, &(struct limit){"cpu", processors_in});
}

uint64_t sys_memory_total(void) {
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = sys_cgroup_memory("");
	if (pages <= 0 || page <= 0)
		return limit == UINT64_MAX ? 0 : limit;
	uint64_t machine = (uint64_t)pages * (uint64_t)page;
	return limit < machine ? limit : machine;
}
