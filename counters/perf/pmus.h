/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMUs of the cores. Processors with several kinds of cores have one PMU for each kind, and the PMU of the current
 * core counts a thread, so an event must be opened on all PMUs to be counted everywhere. */
#ifndef COUNTERS_PERF_PMUS_H
#define COUNTERS_PERF_PMUS_H
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "counters/perf/names.h"

enum { PERF_PMUS_MAX = 4 };

struct perf_pmu {
	char name[40];
	__u32 type;
};

struct perf_pmus {
	size_t count;                      /* 0: the kernel does not know any */
	struct perf_pmu at[PERF_PMUS_MAX]; /* the one that counts raw events first */
};

/* Reads the PMUs from /sys/bus/event_source/devices, or from a folder like it. */
void perf_pmus_find(struct perf_pmus *pmus);
void perf_pmus_find_in(const char *folder, struct perf_pmus *pmus);
/* The type and number of an event when this PMU counts it. */
void perf_pmus_address(const struct perf_pmus *pmus, size_t pmu, const struct perf_name *event, __u32 *type,
                       __u64 *config);

#endif
