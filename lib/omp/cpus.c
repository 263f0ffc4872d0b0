/* SPDX-License-Identifier: BSD-3-Clause */
/* Processors that the process may use at the same time: those of its affinity mask, or fewer where a control group
 * limits its processor time. A team beyond that waits for itself, which must not look like the work of others. */
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"

enum { GROUP_TEXT = 4096 };

static bool file_text(const char *path, char *text, size_t size) {
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return length > 0;
}

/* "200000 100000" of version 2, "max 100000" for none. */
static double quota_two(const char *folder) {
	char path[GROUP_TEXT + 32], text[64], *end;
	snprintf(path, sizeof path, "%s/cpu.max", folder);
	if (!file_text(path, text, sizeof text))
		return INFINITY;
	double quota = strtod(text, &end), period = strtod(end, NULL);
	return quota > 0 && period > 0 && isfinite(quota) ? quota / period : INFINITY;
}

/* Version 1 has two files, and -1 for none. */
static double quota_one(const char *folder) {
	char path[GROUP_TEXT + 32], text[64];
	snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);
	double quota = file_text(path, text, sizeof text) ? atof(text) : 0;
	snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
	double period = file_text(path, text, sizeof text) ? atof(text) : 0;
	return quota > 0 && period > 0 ? quota / period : INFINITY;
}

/* Each group above may be tighter. */
static double quota_upwards(const char *root, const char *group, double (*quota_of)(const char *)) {
	char folder[GROUP_TEXT];
	double least = INFINITY;
	size_t top = strlen(root);
	if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, group) >= sizeof folder)
		return INFINITY;
	for (;;) {
		double quota = quota_of(folder);
		least = quota < least ? quota : least;
		char *slash = strrchr(folder, '/');
		if (!slash || (size_t)(slash - folder) < top)
			return least;
		*slash = '\0';
	}
}

double omp_quota_read(const char *groups, const char *root) {
	char text[GROUP_TEXT], one[GROUP_TEXT], *save;
	double least = INFINITY;
	if (!file_text(groups, text, sizeof text))
		return INFINITY;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
		double quota = INFINITY;
		if (!group)
			continue;
		*group++ = '\0';
		names++;
		if (!*names)
			quota = quota_upwards(root, group, quota_two);
		else if (strcmp(names, "cpu") == 0 || strstr(names, "cpu,") == names || strstr(names, ",cpu"))
			quota = (size_t)snprintf(one, sizeof one, "%s/cpu", root) < sizeof one
			            ? quota_upwards(one, group, quota_one)
			            : INFINITY;
		least = quota < least ? quota : least;
	}
	return least;
}

uint32_t omp_cpus_allowed(double quota) {
	cpu_set_t set;
	uint32_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 0;
	return quota < cpus ? (quota > 1 ? (uint32_t)(quota + 0.999) : 1) : cpus;
}
