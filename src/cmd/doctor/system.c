/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/json/js.h"
#include "src/base/sys.h"
#include "src/cmd/doctor/doctor.h"

static void look_processors(struct app *app, struct finding *f) {
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t *set = CPU_ALLOC(8192);
	size_t size = CPU_ALLOC_SIZE(8192);
	(void)app;
	int allowed = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : (int)online;
	CPU_FREE(set);
	if (allowed < online)
		finding_set(f, FINDING_NOTE, "run without taskset or outside the cpuset to tune the whole machine",
		            "%d of %ld hardware threads may be used", allowed, online);
	else
		finding_set(f, FINDING_GOOD, "", "all %ld hardware threads may be used", online);
}

static void look_quota(struct app *app, struct finding *f) {
	char line[128];
	double quota, period;
	(void)app;
	if (sys_read_line("/sys/fs/cgroup/cpu.max", line, sizeof line) && sscanf(line, "%lf %lf", &quota, &period) == 2)
		finding_set(f, FINDING_BAD, "raise the container's CPU limit, or leave its quota off and use cpusets",
		            "a cgroup quota of %.2f processors throttles long runs", quota / period);
	else if (sys_read_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line) && atof(line) > 0)
		finding_set(f, FINDING_BAD, "raise the container's CPU limit, or leave its quota off and use cpusets",
		            "a cgroup quota of %.0f us a period throttles long runs", atof(line));
	else
		finding_set(f, FINDING_GOOD, "", "no cgroup quota");
}

static void look_governor(struct app *app, struct finding *f) {
	char line[64];
	(void)app;
	if (!sys_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line))
		finding_set(f, FINDING_NOTE, "", "the kernel shows no frequency governor (common in virtual machines)");
	else if (strcmp(line, "performance") == 0)
		finding_set(f, FINDING_GOOD, "", "performance");
	else
		finding_set(f, FINDING_BAD, "sudo cpupower frequency-set -g performance",
		            "governor %s changes the clock while measuring", line);
}

static void look_virtual(struct app *app, struct finding *f) {
	const json_t *machine = app_machine(app, NULL);
	const char *hypervisor = machine ? js_string_or(machine, "hypervisor", NULL) : NULL;
	if (hypervisor)
		finding_set(f, FINDING_NOTE, "",
		            "virtual machine (%s): neighbours show as steal; comparisons are interleaved for that", hypervisor);
	else
		finding_set(f, FINDING_GOOD, "", "no hypervisor seen");
}

static void look_load(struct app *app, struct finding *f) {
	char line[128];
	double load = 0;
	(void)app;
	if (sys_read_line("/proc/loadavg", line, sizeof line))
		load = atof(line);
	if (load > 0.5)
		finding_set(f, FINDING_NOTE, "stop what else is running, then tune",
		            "load average %.2f: something else is running", load);
	else
		finding_set(f, FINDING_GOOD, "", "load average %.2f", load);
}

const struct check doctor_system_checks[] = {
	{"processors", look_processors},  {"cgroup quota", look_quota}, {"governor", look_governor},
	{"virtualisation", look_virtual}, {"load", look_load},          {0},
};
