/* SPDX-License-Identifier: BSD-3-Clause */
/* Powercap has one folder for each zone, and all of them are also below /sys/class/powercap (Linux,
 * Documentation/power/powercap/powercap.rst). */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters/rapl/meter.h"
#include "src/base/sys.h"

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

/* "intel-rapl:0", "intel-rapl:0:1", on AMD as well; intel-rapl-mmio shows the same packages once more. */
void rapl_powercap_open(struct rapl_meter *meter, const char *root) {
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
