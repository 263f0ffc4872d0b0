/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/doctor_rights.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool rights_capability(enum rights right) {
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];
	unsigned long long set = 0;
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	if (file)
		fclose(file);
	return set >> right & 1;
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
