/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor's energy counters (RAPL), from the powercap folders or from perf's power PMU. `root` is "" for this
 * machine, or a folder with a copy of its /sys and /proc. */
#ifndef COUNTERS_RAPL_METER_H
#define COUNTERS_RAPL_METER_H

#include "counters/backend/counter.h"

enum rapl_domain { RAPL_PACKAGE, RAPL_CORE, RAPL_UNCORE, RAPL_DRAM, RAPL_PSYS, RAPL_DOMAINS };
enum { RAPL_ZONES_MAX = 128 };

/* One counter of one package. */
struct rapl_zone {
	enum rapl_domain domain;
	int file;
	bool binary;    /* perf's: 8 bytes; else digits */
	uint64_t range; /* the largest value, after which it wraps to 0; UINT64_MAX: it never wraps */
	double joules;  /* of a step */
};

struct rapl_meter {
	struct rapl_zone zones[RAPL_ZONES_MAX];
	size_t count;
	char reason[COUNTER_REASON], fix[COUNTER_REASON]; /* the reason if counters are missing */
};

struct rapl_sample {
	uint64_t values[RAPL_ZONES_MAX];
};

/* Opens the first source that has any counter. Without one count is 0, with the reason and the remedy. */
void rapl_meter_open(struct rapl_meter *meter, const char *root);
void rapl_meter_close(struct rapl_meter *meter);
bool rapl_meter_has(const struct rapl_meter *meter, enum rapl_domain domain);
/* Returns 0, or -1 if a counter can't be read (any more). */
int rapl_meter_read(const struct rapl_meter *meter, struct rapl_sample *sample);
/* Does a counter of this domain move, or any counter for RAPL_DOMAINS? Watches for up to 20 ms: true counters move once
 * a millisecond (Intel SDM, volume 3, "Package Domain", MSR_PKG_ENERGY_STATUS), but a hypervisor may show some that
 * stand still. */
bool rapl_meter_moves(const struct rapl_meter *meter, enum rapl_domain domain);
/* Returns the joules between two samples, summed over packages. */
double rapl_meter_joules(const struct rapl_meter *meter, enum rapl_domain domain, const struct rapl_sample *begin,
                         const struct rapl_sample *end);
#endif
