/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/reasons.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters/perf/pmus.h"
#include "src/base/rights.h"
#include "src/base/sys.h"

#define UNWATCH  "sudo sysctl kernel.nmi_watchdog=0"
#define UNFILTER "start the container with --cap-add=PERFMON or --security-opt seccomp=unconfined"

static bool is_paranoid(const struct perf_facts *facts) {
	return !facts->capable && facts->paranoid >= 3;
}

static bool is_filtered(const struct perf_facts *facts) {
	return facts->seccomp;
}

static bool is_plain(const struct perf_facts *facts) {
	return !facts->capable;
}

static bool is_guest(const struct perf_facts *facts) {
	return !facts->pmu && facts->virtual_machine;
}

static bool is_bare(const struct perf_facts *facts) {
	return !facts->pmu;
}

/* The first match wins. Level 3 is a patch of Debian and Android: without a capability it forbids every event. */
static const struct {
	int error;
	bool (*when)(const struct perf_facts *facts); /* NULL: always */
	struct perf_reason reason;
} reasons[] = {
#define FORBIDDEN(error)                                                                                               \
	{error, is_paranoid, {"perf_event_paranoid is 3 or more: no counting without CAP_PERFMON", PERF_UNPARANOID}},      \
		{error, is_filtered, {"a seccomp filter, as containers have, forbids perf_event_open", UNFILTER}},             \
		{error, is_plain, {"not allowed without CAP_PERFMON", PERF_UNPARANOID}}, {                                     \
		error, NULL, {                                                                                                 \
			"a security module of the kernel forbids it", "see `sudo dmesg | grep -i denied`"                          \
		}                                                                                                              \
	}
	FORBIDDEN(EACCES),
	FORBIDDEN(EPERM),
#define ABSENT(error)                                                                                                  \
	{error,                                                                                                            \
	 is_guest,                                                                                                         \
	 {"no hardware PMU in this virtual machine",                                                                       \
	  "let the hypervisor pass its PMU on (QEMU: -cpu host,pmu=on; libvirt: <pmu state='on'/>)"}},                     \
		{error, is_bare, {"no hardware PMU that this kernel knows", ""}}, {                                            \
		error, NULL, {                                                                                                 \
			"this CPU's PMU lacks such an event", ""                                                                   \
		}                                                                                                              \
	}
	ABSENT(ENOENT),
	ABSENT(EOPNOTSUPP),
	ABSENT(ENODEV),
	ABSENT(ENXIO),
	{EINVAL, NULL, {"the kernel or the PMU rejects such an event", ""}},
	{EBUSY, NULL, {"another profiler or the NMI watchdog holds the counters", UNWATCH}},
	{ENOSPC, NULL, {"there are not enough free counters; the NMI watchdog may hold one", UNWATCH}},
	{EMFILE, NULL, {"too many open files: each event of each thread is one", "ulimit -n $(ulimit -Hn)"}},
	{ENFILE, NULL, {"too many open files in the whole system", "sudo sysctl fs.file-max=1000000"}},
	{ENOMEM, NULL, {"out of memory", ""}},
	{E2BIG, NULL, {"this kernel is too old for such an event", ""}},
	{ENOSYS, is_filtered, {"a seccomp filter, as containers have, hides perf_event_open", UNFILTER}},
	{ENOSYS, NULL, {"this kernel does not provide perf_event_open", "boot a kernel with CONFIG_PERF_EVENTS"}},
};

struct perf_reason perf_reason_find(int error, const struct perf_facts *facts) {
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].error == error && (!reasons[i].when || reasons[i].when(facts)))
			return reasons[i].reason;
	const char *text = strerrordesc_np(error);
	return (struct perf_reason){text ? text : "perf_event_open fails for an unknown reason", ""};
}

/* Hypervisors show up in the flags of x86 processors; elsewhere some do in sysfs or the device tree. */
static bool is_virtual(void) {
	char *line = NULL;
	size_t size = 0;
	bool found = access("/sys/hypervisor/type", F_OK) == 0 || access("/proc/device-tree/hypervisor", F_OK) == 0;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && !found && getline(&line, &size, file) > 0 && line[0] != '\n')
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
	if (file)
		fclose(file);
	free(line);
	return found;
}

/* A property of the machine is read once, because hundreds of events may be refused and each asks for it. */
struct nature {
	pthread_once_t once;
	bool virtual_machine;
};

static struct nature *nature(void) {
	static struct nature only = {.once = PTHREAD_ONCE_INIT};
	return &only;
}

static void nature_read(void) {
	nature()->virtual_machine = is_virtual();
}

/* Only such an error depends on rights, which may be dropped at any time and are therefore read each time. */
static bool is_denial(int error) {
	return error == EACCES || error == EPERM || error == ENOSYS;
}

static void rights_find(struct perf_facts *facts) {
	char line[32];
	struct rights rights;
	if (sys_read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line))
		facts->paranoid = (int)strtol(line, NULL, 10);
	rights_read(&rights, "");
	facts->capable = rights_perf(&rights);
	facts->seccomp = rights.seccomp;
}

struct perf_reason perf_reason_here(int error) {
	struct perf_facts facts = {.paranoid = 2};
	struct perf_pmus pmus;
	if (is_denial(error))
		rights_find(&facts);
	pthread_once(&nature()->once, nature_read);
	facts.virtual_machine = nature()->virtual_machine;
	perf_pmus_find(&pmus);
	facts.pmu = pmus.count > 0;
	return perf_reason_find(error, &facts);
}
