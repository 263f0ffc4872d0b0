/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/value.h"

#include <stdio.h>

#include "counters/perf/reasons.h"

const char *perf_value_unit(const struct perf_name *name) {
	return name->clock ? "s" : "count";
}

static void limits_describe(struct counter_value *value, const struct perf_seen *seen, double share) {
	char scaled[80] = "", only[80] = "";
	if (value->status == COUNTER_SCALED)
		snprintf(scaled, sizeof scaled, "scaled: it had a counter for %.3g %% of the time; ", 100 * share);
	if (seen->only)
		snprintf(only, sizeof only, "on cores of %.40s only; ", seen->only);
	int used = snprintf(value->reason, sizeof value->reason, "%s%s%s", scaled, only,
	                    seen->user_only ? "user code only, at this perf_event_paranoid; " : "");
	if (used > 2)
		value->reason[used - 2] = '\0';
}

void perf_value_fill(struct counter_value *value, const char *asked, const struct perf_name *name,
                     const struct perf_seen *seen) {
	const char *unit = perf_value_unit(name);
	const double enabled = (double)seen->sum.enabled, running = (double)seen->sum.running;
	if (seen->user_only && name->in_kernel) {
		counter_value_miss(value, asked, unit,
		                   "happens in the kernel, which perf_event_paranoid hides; " PERF_UNPARANOID);
	} else if (seen->sum.enabled == 0) {
		counter_value_miss(value, asked, unit, "nothing ran during the count");
	} else if (seen->sum.running == 0) {
		counter_value_miss(value, asked, unit,
		                   "the kernel never scheduled it: the NMI watchdog or another profiler may hold the counters; "
		                   "sudo sysctl kernel.nmi_watchdog=0");
	} else {
		double x = (double)seen->sum.value * (name->clock ? 1e-9 : 1);
		counter_value_set(value, asked, unit, running < enabled ? x * (enabled / running) : x);
		value->status = running < enabled ? COUNTER_SCALED : COUNTER_COUNTED;
		limits_describe(value, seen, running / enabled);
	}
}
