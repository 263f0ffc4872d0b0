/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/doctor/doctor_impl.h"

static void look_processors(struct app *app, struct finding *f) {
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t *set = CPU_ALLOC(8192);
	size_t size = CPU_ALLOC_SIZE(8192);
	(void)app;
	int allowed = set && sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : (int)online;
	CPU_FREE(set);
	if (allowed < online)
		finding_set(f, FINDING_NOTE, "to tune the whole machine, run without taskset and outside the cpuset",
		            "%d of %ld hardware threads are available", allowed, online);
	else
		finding_set(f, FINDING_GOOD, "", "all %ld hardware threads are available", online);
}

static void look_quota(struct app *app, struct finding *f) {
	double quota = sys_cgroup_processors("");
	(void)app;
	if (isfinite(quota))
		finding_set(f, FINDING_BAD, "raise the CPU limit of the job or container, or use cpusets instead of a quota",
		            "a cgroup quota of %.2f processors throttles long runs", quota);
	else
		finding_set(f, FINDING_GOOD, "", "no cgroup quota");
}

static void look_governor(struct app *app, struct finding *f) {
	char line[64];
	(void)app;
	if (!sys_read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line))
		finding_set(f, FINDING_NOTE, "", "the kernel does not show a frequency governor (common in virtual machines)");
	else if (strcmp(line, "performance") == 0)
		finding_set(f, FINDING_GOOD, "", "performance");
	else
		finding_set(f, FINDING_BAD, "sudo cpupower frequency-set -g performance",
		            "the governor %s changes the clock during measurements", line);
}

static void look_virtual(struct app *app, struct finding *f) {
	const json_t *machine = app_machine(app, NULL);
	const char *hypervisor = machine ? js_string_or(machine, "hypervisor", NULL) : NULL;
	if (hypervisor)
		finding_set(f, FINDING_NOTE, "",
		            "virtual machine (%s): other guests may steal time, which is why comparisons are interleaved",
		            hypervisor);
	else
		finding_set(f, FINDING_GOOD, "", "not virtualised");
}

static void look_load(struct app *app, struct finding *f) {
	char line[128];
	double load = 0;
	(void)app;
	if (sys_read_line("/proc/loadavg", line, sizeof line))
		load = atof(line);
	if (load > 0.5)
		finding_set(f, FINDING_NOTE, "stop other programs before tuning",
		            "load average %.2f: other programs are running", load);
	else
		finding_set(f, FINDING_GOOD, "", "load average %.2f", load);
}

const struct check doctor_system_checks[] = {
	{"processors", look_processors},  {"cgroup quota", look_quota}, {"governor", look_governor},
	{"virtualisation", look_virtual}, {"load", look_load},          {0},
};
