/* SPDX-License-Identifier: BSD-3-Clause */
/* perf's power PMU has one 64-bit counter for each event and package, opened on a processor of that package (Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events; arch/x86/events/rapl.c). */
#include <config.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/rapl/meter.h"
#include "src/base/sys.h"

enum { CPU_MAX = 1 << 16 };

static const char *const names[RAPL_DOMAINS] = {[RAPL_PACKAGE] = "energy-pkg",
                                                [RAPL_CORE] = "energy-cores",
                                                [RAPL_UNCORE] = "energy-gpu",
                                                [RAPL_DRAM] = "energy-ram",
                                                [RAPL_PSYS] = "energy-psys"};

static bool line_read(const char *folder, const char *name, const char *suffix, char *line, size_t size) {
	char path[4352];
	snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
	return sys_read_line(path, line, size);
}

/* Reads a whole number at `text`; *end points behind it. */
static bool number(const char *text, int base, unsigned long max, unsigned long *out, const char **end) {
	char *after;
	errno = 0;
	*out = strtoul(text, &after, base);
	*end = after;
	return after > text && errno == 0 && *out <= max && text[0] != '-' && text[0] != '+' && text[0] != ' ';
}

/* "event=0x02", and its scale in joules. */
static bool event_read(const char *folder, enum rapl_domain domain, __u64 *config, double *joules) {
	char line[128], name[64], *after;
	const char *end;
	unsigned long event;
	snprintf(name, sizeof name, "events/%s", names[domain]);
	if (!line_read(folder, name, "", line, sizeof line) || strncmp(line, "event=", 6) != 0 ||
	    !number(line + 6, 0, 0xffff, &event, &end) || *end)
		return false;
	*config = event;
	if (!line_read(folder, name, ".unit", line, sizeof line) || strcmp(line, "Joules") != 0 ||
	    !line_read(folder, name, ".scale", line, sizeof line))
		return false;
	*joules = strtod(line, &after);
	return after > line && *after == '\0' && isfinite(*joules) && *joules > 0 && *joules <= 1;
}

static int event_open(unsigned long type, __u64 config, unsigned long cpu) {
	struct perf_event_attr attr = {.size = sizeof attr, .type = (__u32)type, .config = config};
	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void refused(struct rapl_meter *meter) {
	if (errno != EACCES && errno != EPERM) {
		snprintf(meter->reason, sizeof meter->reason, "perf's power PMU cannot be opened: %s", strerror(errno));
		return;
	}
	snprintf(meter->reason, sizeof meter->reason,
	         "perf's power PMU counts the whole machine, which "
	         "kernel.perf_event_paranoid above 0 forbids");
	snprintf(meter->fix, sizeof meter->fix, "sudo sysctl kernel.perf_event_paranoid=0");
}

static bool event_add(struct rapl_meter *meter, unsigned long type, unsigned long cpu, enum rapl_domain domain,
                      __u64 config, double joules) {
	int file = event_open(type, config, cpu);
	if (file < 0) {
		refused(meter);
		return false;
	}
	rapl_zone_add(meter, (struct rapl_zone){
							 .domain = domain, .file = file, .binary = true, .range = UINT64_MAX, .joules = joules});
	return true;
}

/* Calls it for each processor of "0,64" or "0-3". */
static void event_add_all(struct rapl_meter *meter, const char *mask, unsigned long type, enum rapl_domain domain,
                          __u64 config, double joules) {
	for (unsigned long from, to; *mask;) {
		if (!number(mask, 10, CPU_MAX, &from, &mask))
			return;
		to = from;
		if (*mask == '-' && (!number(mask + 1, 10, CPU_MAX, &to, &mask) || to < from))
			return;
		while (from <= to && event_add(meter, type, from, domain, config, joules))
			from++;
		mask += *mask == ',';
	}
}

void rapl_power_open(struct rapl_meter *meter, const char *root) {
	char folder[2048], line[256], mask[1024];
	const char *end;
	unsigned long type;
	double joules;
	__u64 config;
	snprintf(folder, sizeof folder, "%s/sys/bus/event_source/devices/power", root);
	if (!line_read(folder, "type", "", line, sizeof line) || !number(line, 10, UINT32_MAX, &type, &end) || *end ||
	    !line_read(folder, "cpumask", "", mask, sizeof mask))
		return;
	for (int d = 0; d < RAPL_DOMAINS; d++)
		if (event_read(folder, (enum rapl_domain)d, &config, &joules))
			event_add_all(meter, mask, type, (enum rapl_domain)d, config, joules);
}
