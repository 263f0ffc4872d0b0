/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/doctor/rights.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/base/sys.h"

/* A line of /proc/self/status, as a number; 0: there is none. */
static unsigned long long status_number(const char *name, int base) {
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long long number = 0;
	size_t length = strlen(name);
	while (file && fgets(line, sizeof line, file)) {
		if (strncmp(line, name, length) == 0 && line[length] == ':') {
			number = strtoull(line + length + 1, NULL, base);
			break;
		}
	}
	if (file)
		fclose(file);
	return number;
}

/* In a user namespace of its own even root's capabilities mean nothing to perf (user_namespaces(7)). */
static bool is_first_namespace(void) {
	char line[80];
	unsigned long inside, outside, count;
	return !sys_read_line("/proc/self/uid_map", line, sizeof line) ||
	       (sscanf(line, "%lu %lu %lu", &inside, &outside, &count) == 3 && outside == 0 && count == UINT32_MAX);
}

bool rights_capability(enum rights right) {
	return (status_number("CapEff", 16) >> right & 1) && is_first_namespace();
}

bool rights_filtered(void) {
	return status_number("Seccomp", 10) != 0;
}

bool rights_container(void) {
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (access(marks[i], F_OK) == 0)
			return true;
	return false;
}

int rights_perf_open(void) {
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}
