/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/rights.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAP_BIT_SYS_ADMIN = 21, CAP_BIT_PERFMON = 38 }; /* bits of capability.h in the kernel */

static FILE *open_below(const char *root, const char *file) {
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/proc/self/%s", root, file) < (int)sizeof path)
		return fopen(path, "re");
	errno = ENAMETOOLONG;
	return NULL;
}

/* perf ignores the capabilities of every user namespace but the first, even root's (user_namespaces(7)). The file is
 * absent only on a kernel without user namespaces, where the first is the only one. A map that is empty (not yet
 * written), partial or unreadable does not prove anything, so the answer is false: advice to gain a right that is
 * already held does less harm than a promise that the kernel breaks. */
static bool is_first_namespace(const char *root) {
	unsigned long inside, outside, count;
	FILE *map = open_below(root, "uid_map");
	if (!map)
		return errno == ENOENT;
	bool whole = fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3;
	fclose(map);
	return whole && inside == 0 && outside == 0 && count == UINT32_MAX;
}

void rights_read(struct rights *rights, const char *root) {
	char line[256];
	unsigned long long effective = 0;
	*rights = (struct rights){0};
	FILE *status = open_below(root, "status");
	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "CapEff:", 7) == 0)
			effective = strtoull(line + 7, NULL, 16);
		else if (strncmp(line, "Seccomp:", 8) == 0)
			rights->seccomp = strtol(line + 8, NULL, 10) != 0;
	if (status)
		fclose(status);
	if (effective && is_first_namespace(root)) {
		rights->sys_admin = effective >> CAP_BIT_SYS_ADMIN & 1;
		rights->perfmon = effective >> CAP_BIT_PERFMON & 1;
	}
}

bool rights_perf(const struct rights *rights) {
	return rights->perfmon || rights->sys_admin;
}
