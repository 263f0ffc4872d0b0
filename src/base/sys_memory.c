/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"

/* "max", or anything else that is not a number, means unlimited. */
static uint64_t limit_in(const char *path) {
	char line[32], *end;
	if (!sys_read_line(path, line, sizeof(line)) || line[0] < '0' || line[0] > '9')
		return UINT64_MAX;
	unsigned long long limit = strtoull(line, &end, 10);
	return *end ? UINT64_MAX : limit;
}

/* The smallest limit of a group and its ancestors. In a container the group's path may not exist in the visible
 * tree; the walk up ends at the root of that tree, which does. */
static uint64_t smallest_above(const char *mount, const char *group, const char *file) {
	char *path = mem_strdup(group), *slash = path;
	uint64_t smallest = UINT64_MAX;
	while (slash) {
		char *name = mem_printf("%s%s/%s", mount, path, file);
		uint64_t limit = limit_in(name);
		free(name);
		if (limit < smallest)
			smallest = limit;
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
static uint64_t limit_of_line(const char *root, char *line) {
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group || group[1] != '/')
		return UINT64_MAX;
	bool v2 = group == controllers + 1;
	if (!v2 && !has_controller(controllers + 1, (size_t)(group - controllers - 1), "memory"))
		return UINT64_MAX;
	group[1 + strcspn(group + 1, "\n")] = '\0';
	char *mount = mem_printf("%s/sys/fs/cgroup%s", root, v2 ? "" : "/memory");
	uint64_t limit = smallest_above(mount, strcmp(group + 1, "/") == 0 ? "" : group + 1,
	                                v2 ? "memory.max" : "memory.limit_in_bytes");
	free(mount);
	return limit;
}

uint64_t sys_cgroup_memory(const char *root) {
	char *path = mem_printf("%s/proc/self/cgroup", root), *line = NULL;
	FILE *file = fopen(path, "re");
	uint64_t smallest = UINT64_MAX;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0) {
		uint64_t limit = limit_of_line(root, line);
		if (limit < smallest)
			smallest = limit;
	}
	if (file)
		fclose(file);
	free(line);
	free(path);
	return smallest;
}

uint64_t sys_memory_total(void) {
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = sys_cgroup_memory("");
	if (pages <= 0 || page <= 0)
		return limit == UINT64_MAX ? 0 : limit;
	uint64_t machine = (uint64_t)pages * (uint64_t)page;
	return limit < machine ? limit : machine;
}
