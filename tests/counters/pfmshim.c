/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded to make libpfm4's PMU of software events look like the processor's, so that PAPI's perf_event component
 * starts without a hardware PMU that it knows. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { SUCCESS, TYPE_CORE = 1, COUNTERS = 16 };

/* Copied from libpfm 4's perfmon/pfmlib.h; its ABI does not change within version 4. */
struct pmu_info {
	const char *name, *description;
	size_t size;
	int pmu, type, events, first_event, encoding_max, counters, fixed_counters;
	unsigned flags;
};

int pfm_get_pmu_info(int pmu, struct pmu_info *info);

__attribute__((visibility("default"))) int pfm_get_pmu_info(int pmu, struct pmu_info *info) {
	int (*real)(int, struct pmu_info *) = NULL;
	*(void **)&real = dlsym(RTLD_NEXT, "pfm_get_pmu_info");
	int rc = real ? real(pmu, info) : -1;
	if (rc == SUCCESS && info->name && strcmp(info->name, "perf") == 0) {
		info->type = TYPE_CORE;
		info->counters = COUNTERS;
	}
	return rc;
}
