/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/rapl/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void rapl_zone_add(struct rapl_meter *meter, struct rapl_zone zone) {
	if (meter->count < RAPL_ZONES_MAX)
		meter->zones[meter->count++] = zone;
	else
		close(zone.file);
}

bool rapl_number_read(int file, uint64_t *value) {
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
