/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/rapl/meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"
#include "counters/perf/perf.h"

/* Powercap has one folder for each zone, and all of them are also below /sys/class/powercap (Linux,
 * Documentation/power/powercap/powercap.rst). */

static const struct {
	const char *name;
	enum rapl_domain domain;
} domains[] = {
	{"package", RAPL_PACKAGE}, {"core", RAPL_CORE}, {"uncore", RAPL_UNCORE}, {"dram", RAPL_DRAM}, {"psys", RAPL_PSYS},
};

/* "package-1", "package-1-die-0", "dram". */
static bool domain_find(const char *name, enum rapl_domain *domain) {
	for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
		size_t length = strlen(domains[i].name);
		*domain = domains[i].domain;
		if (strncmp(name, domains[i].name, length) == 0 && (name[length] == '\0' || name[length] == '-'))
			return true;
	}
	return false;
}

static int file_open(const char *folder, const char *name) {
	char path[4352];
	int wrote = snprintf(path, sizeof path, "%s/%s", folder, name);
	return wrote < (int)sizeof path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

/* Reads a whole number from a file of digits; false for any other content. */
static bool rapl_number_read(int file, uint64_t *value) {
	enum { DIGITS_MAX = 20 };
	char text[DIGITS_MAX + 3];
	ssize_t got = pread(file, text, sizeof text - 1, 0);
	if (got < 1)
		return false;
	text[got] = '\0';
	size_t digits = strspn(text, "0123456789");
	errno = 0;
	*value = strtoull(text, NULL, 10);
	return digits > 0 && (text[digits] == '\0' || text[digits] == '\n') && errno == 0;
}

static bool range_read(const char *folder, uint64_t *range) {
	int file = file_open(folder, "max_energy_range_uj");
	bool good = file >= 0 && rapl_number_read(file, range) && *range > 0;
	if (file >= 0)
		close(file);
	return good;
}

static void zone_fail(struct rapl_meter *meter, const char *zone, const char *why) {
	snprintf(meter->reason, sizeof meter->reason, "/sys/class/powercap/%.40s/%s", zone, why);
}

/* Since Linux 5.10 only root may read it, because it reveals the computations of other users (CVE-2020-8694). */
static void zone_barred(struct rapl_meter *meter, const char *zone) {
	zone_fail(meter, zone, "energy_uj: only root may read it (since Linux 5.10, CVE-2020-8694)");
	snprintf(meter->fix, sizeof meter->fix, "sudo chmod o+r /sys/class/powercap/intel-rapl:*/energy_uj");
}

static void rapl_zone_add(struct rapl_meter *meter, struct rapl_zone zone);

static void zone_open(struct rapl_meter *meter, const char *folder, const char *name) {
	char path[4352], title[64];
	struct rapl_zone zone = {.joules = 1e-6};
	uint64_t now;
	snprintf(path, sizeof path, "%s/name", folder);
	if (!sys_read_line(path, title, sizeof title) || !domain_find(title, &zone.domain))
		return;
	zone.file = file_open(folder, "energy_uj");
	if (zone.file < 0) {
		if (errno == EACCES || errno == EPERM)
			zone_barred(meter, name);
		return;
	}
	if (!range_read(folder, &zone.range)) {
		zone_fail(meter, name, "max_energy_range_uj does not contain a number");
	} else if (!rapl_number_read(zone.file, &now) || now > zone.range) {
		zone_fail(meter, name, "energy_uj does not contain a number within its range");
	} else {
		rapl_zone_add(meter, zone);
		return;
	}
	close(zone.file);
}

/* The two sources, which add their counters to the meter. "intel-rapl:0", "intel-rapl:0:1", on AMD as well;
 * intel-rapl-mmio shows the same packages once more. */
static void rapl_powercap_open(struct rapl_meter *meter, const char *root) {
	char folder[2048], zone[4096];
	snprintf(folder, sizeof folder, "%s/sys/class/powercap", root);
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, "intel-rapl:", 11) != 0)
			continue;
		snprintf(zone, sizeof zone, "%s/%s", folder, entry->d_name);
		zone_open(meter, zone, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

/* perf's power PMU has one 64-bit counter for each event and package, opened on a processor of that package (Linux,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-events; arch/x86/events/rapl.c). */

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

static void refused(struct rapl_meter *meter, int error) {
	if (error != EACCES && error != EPERM) {
		snprintf(meter->reason, sizeof meter->reason, "perf's power PMU cannot be opened: %s", strerror(error));
		return;
	}
	snprintf(meter->reason, sizeof meter->reason,
	         "perf's power PMU counts the whole machine, which "
	         "kernel.perf_event_paranoid above 0 forbids");
	snprintf(meter->fix, sizeof meter->fix, "sudo sysctl kernel.perf_event_paranoid=0");
}

struct event_use {
	struct rapl_meter *meter;
	struct rapl_zone zone;
};

static bool event_add(void *ctx, int file, unsigned long cpu) {
	struct event_use *use = ctx;
	(void)cpu;
	use->zone.file = file;
	if (file < 0)
		refused(use->meter, -file);
	else
		rapl_zone_add(use->meter, use->zone);
	return file >= 0;
}

/* The two sources, which add their counters to the meter. */
static void rapl_power_open(struct rapl_meter *meter, const char *root) {
	char folder[2048], line[256], mask[1024];
	const char *end;
	unsigned long type;
	double joules;
	__u64 config;
	snprintf(folder, sizeof folder, "%s/sys/bus/event_source/devices/power", root);
	if (!line_read(folder, "type", "", line, sizeof line) || !number(line, 10, UINT32_MAX, &type, &end) || *end ||
	    !line_read(folder, "cpumask", "", mask, sizeof mask))
		return;
	for (int d = 0; d < RAPL_DOMAINS; d++) {
		if (!event_read(folder, (enum rapl_domain)d, &config, &joules))
			continue;
		struct event_use use = {meter,
		                        {.domain = (enum rapl_domain)d, .binary = true, .range = UINT64_MAX, .joules = joules}};
		perf_packages_open((__u32)type, config, false, mask, event_add, &use);
	}
}

/* For the sources of counters: closes the file if the meter is full. */
static void rapl_zone_add(struct rapl_meter *meter, struct rapl_zone zone) {
	if (meter->count < RAPL_ZONES_MAX)
		meter->zones[meter->count++] = zone;
	else
		close(zone.file);
}

static bool zone_read(const struct rapl_zone *zone, uint64_t *value) {
	if (zone->binary)
		return read(zone->file, value, sizeof *value) == (ssize_t)sizeof *value;
	return rapl_number_read(zone->file, value) && *value <= zone->range;
}

int rapl_meter_read(const struct rapl_meter *meter, struct rapl_sample *sample) {
	for (size_t i = 0; i < meter->count; i++)
		if (!zone_read(&meter->zones[i], &sample->values[i]))
			return -1;
	return 0;
}

/* It wraps around once at most, because that takes minutes at the highest power. */
static double zone_joules(const struct rapl_zone *zone, uint64_t begin, uint64_t end) {
	uint64_t steps = end >= begin ? end - begin : zone->range - begin + end + 1;
	return (double)steps * zone->joules;
}

double rapl_meter_joules(const struct rapl_meter *meter, enum rapl_domain domain, const struct rapl_sample *begin,
                         const struct rapl_sample *end) {
	double sum = 0;
	for (size_t i = 0; i < meter->count; i++)
		if (meter->zones[i].domain == domain)
			sum += zone_joules(&meter->zones[i], begin->values[i], end->values[i]);
	return sum;
}

bool rapl_meter_has(const struct rapl_meter *meter, enum rapl_domain domain) {
	for (size_t i = 0; i < meter->count; i++)
		if (meter->zones[i].domain == domain)
			return true;
	return false;
}

static bool has_moved(const struct rapl_meter *meter, enum rapl_domain domain, const struct rapl_sample *a,
                      const struct rapl_sample *b) {
	for (size_t i = 0; i < meter->count; i++)
		if ((domain == RAPL_DOMAINS || meter->zones[i].domain == domain) && a->values[i] != b->values[i])
			return true;
	return false;
}

bool rapl_meter_moves(const struct rapl_meter *meter, enum rapl_domain domain) {
	enum { LOOKS = 40, LOOK_NS = 500000 };
	struct rapl_sample first, now;
	bool moved = false, good = rapl_meter_read(meter, &first) == 0;
	for (int i = 0; i < LOOKS && good && !moved; i++) {
		nanosleep(&(struct timespec){0, LOOK_NS}, NULL);
		good = rapl_meter_read(meter, &now) == 0;
		moved = good && has_moved(meter, domain, &first, &now);
	}
	return moved;
}

static bool is_virtual(const char *root) {
	char path[4096], line[8192];
	bool found = false;
	snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof line, file))
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
	if (file)
		fclose(file);
	return found;
}

static void nothing(struct rapl_meter *meter, const char *root) {
	static const char where[] = "neither /sys/class/powercap/intel-rapl:* nor perf's power PMU exists";
	if (is_virtual(root)) {
		snprintf(meter->reason, sizeof meter->reason, "%s: virtual machines do not get energy counters", where);
		snprintf(meter->fix, sizeof meter->fix, "measure energy on the machine itself, not in a VM");
	} else {
		snprintf(meter->reason, sizeof meter->reason, "%s: the driver is not loaded, or the processor lacks them",
		         where);
		snprintf(meter->fix, sizeof meter->fix, "sudo modprobe intel_rapl_msr");
	}
}

void rapl_meter_open(struct rapl_meter *meter, const char *root) {
	*meter = (struct rapl_meter){.count = 0};
	rapl_powercap_open(meter, root);
	if (meter->count == 0)
		rapl_power_open(meter, root);
	if (meter->count == 0 && !meter->reason[0])
		nothing(meter, root);
}

void rapl_meter_close(struct rapl_meter *meter) {
	for (size_t i = 0; i < meter->count; i++)
		close(meter->zones[i].file);
	meter->count = 0;
}
