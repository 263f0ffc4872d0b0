/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the kernel's counts into a value. */
#ifndef COUNTERS_PERF_VALUE_H
#define COUNTERS_PERF_VALUE_H
#include "counters/perf/event.h"
#include "counters/perf/names.h"

struct perf_seen {
	struct perf_sample sum; /* over the PMUs that can count it; `enabled` of one of them */
	bool user_only;         /* the kernel's own part is missing */
	const char *only;       /* the only kind of cores that counted it; NULL: all */
};

/* An event that shared its counter with others is scaled from the time that it had one to the whole time, and says so;
 * an event that never had a counter is unavailable. */
void perf_value_fill(struct counter_value *value, const char *asked, const struct perf_name *name,
                     const struct perf_seen *seen);
const char *perf_value_unit(const struct perf_name *name);

#endif
