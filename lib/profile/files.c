/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/machine_impl.h"

bool ssp_line_read(const char *root, char *line, size_t size, const char *format, ...) {
	char path[PATH_MAX];
	int used = snprintf(path, sizeof path, "%s", root);
	va_list ap;
	if (used < 0 || (size_t)used >= sizeof path)
		return false;
	va_start(ap, format);
	int more = vsnprintf(path + used, sizeof path - (size_t)used, format, ap);
	va_end(ap);
	FILE *in = more >= 0 && (size_t)more < sizeof path - (size_t)used ? fopen(path, "re") : NULL;
	bool read = in && fgets(line, (int)size, in);
	if (in)
		fclose(in);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* One "A" or "A-B"; *end: the rest. */
static const char *range_parse(const char *text, size_t *from, size_t *to) {
	char *end;
	if (!isdigit((unsigned char)*text))
		return NULL;
	*from = *to = strtoul(text, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*to = strtoul(end + 1, &end, 10);
	if (*end && *end != ',')
		return NULL;
	return *from <= *to ? end + (*end == ',') : NULL;
}

bool ssp_set_parse(const char *text, struct ssp_set *set) {
	size_t from, to;
	memset(set, 0, sizeof *set);
	while (*text) {
		text = range_parse(text, &from, &to);
		if (!text)
			return false;
		for (size_t i = from; i <= to && i < SSP_CPUS_MAX; i++) {
			set->count += !set->has[i];
			set->has[i] = true;
		}
	}
	return set->count > 0;
}

bool ssp_set_meets(const char *text, const struct ssp_set *set, size_t *lowest) {
	size_t from, to;
	*lowest = SSP_CPUS_MAX;
	while (*text) {
		text = range_parse(text, &from, &to);
		if (!text)
			return false;
		for (size_t i = from; i <= to && i < *lowest; i++)
			if (set->has[i])
				*lowest = i;
	}
	return *lowest < SSP_CPUS_MAX;
}

/* The group's path in a hierarchy ("0::" or ":cpuset:") of /proc/self/cgroup. */
static bool group_path(const char *root, const char *hierarchy, char *path, size_t size) {
	char name[PATH_MAX], line[PATH_MAX];
	bool found = false;
	FILE *in = snprintf(name, sizeof name, "%s/proc/self/cgroup", root) < (int)sizeof name ? fopen(name, "re") : NULL;
	while (in && !found && fgets(line, sizeof line, in)) {
		const char *at = strstr(line, hierarchy);
		line[strcspn(line, "\n")] = '\0';
		found = at && (*hierarchy == ':' || at == line) && at[strlen(hierarchy)] == '/' && !strstr(line, "/..") &&
		        snprintf(path, size, "%s", at + strlen(hierarchy)) < (int)size;
	}
	if (in)
		fclose(in);
	return found;
}

/* The file of the group itself, or of its nearest ancestor that has it. */
static bool group_walk(const char *root, const char *mount, char *group, const char *file, char *line, size_t size) {
	for (;;) {
		char *slash = strrchr(group, '/');
		if (ssp_line_read(root, line, size, "%s%s/%s", mount, group, file) && *line)
			return true;
		if (!slash)
			return false;
		*slash = '\0';
	}
}

/* Control groups, version 2 and 1 (cgroups(7), "/proc/[pid]/cgroup"; cpuset(7)). */
bool ssp_group_read(const char *root, const char *what, char *line, size_t size) {
	char group[PATH_MAX], file[64];
	snprintf(file, sizeof file, "cpuset.%s.effective", what);
	if (group_path(root, "0::", group, sizeof group) && group_walk(root, "/sys/fs/cgroup", group, file, line, size))
		return true;
	snprintf(file, sizeof file, "cpuset.%s", what);
	return group_path(root, ":cpuset:", group, sizeof group) &&
	       group_walk(root, "/sys/fs/cgroup/cpuset", group, file, line, size);
}
