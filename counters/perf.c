/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux perf: software events, and hardware events by the kernel's generic names or the CPU's own numbers. Hardware
 * events that are opened together form one group on each core PMU, software events another. If the kernel's side is
 * hidden (perf_event_paranoid 2), the kernel still opens context-switches and cpu-migrations for the user's side and
 * then silently counts 0, because both happen in the kernel; we report them as unavailable. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "counters/perf/perf.h"

static const char *const events[] = {"task-clock",   "page-faults",      "minor-faults",
                                     "major-faults", "context-switches", "cpu-migrations",
                                     "cycles",       "instructions",     NULL};

static int perf_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	return count > COUNTER_OPEN_MAX ? -1 : perf_slots_open(state, site->tree, names, count);
}

static int perf_read(void *state, struct counter_value *values) {
	const struct perf_slots *s = state;
	for (size_t i = 0; i < s->count; i++) {
		const struct perf_slot *slot = &s->at[i];
		const struct perf_seen seen = perf_slots_seen(s, i);
		if (slot->places == 0)
			counter_value_miss(&values[i], slot->asked, perf_value_unit(&slot->name), "%s%s%s", slot->refused.reason,
			                   slot->refused.fix[0] ? "; " : "", slot->refused.fix);
		else
			perf_value_fill(&values[i], slot->asked, &slot->name, &seen);
	}
	return 0;
}

static bool perf_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct perf_slots s = {.count = 0};
	struct perf_name name;
	struct counter_value value = {.reason = ""};
	if (!perf_name_find(event, &name)) {
		snprintf(reason, COUNTER_REASON, "perf does not have an event %.60s: names are those of `perf list`, or rHEX",
		         event);
		return false;
	}
	bool can = perf_open(&s, site, &event, 1) == 0 && s.at[0].places > 0;
	if (!can)
		perf_read(&s, &value);
	for (int g = 0; can && g < PERF_GROUPS; g++)
		can = !(name.in_kernel && s.groups[g].user_only);
	if (!can && !value.reason[0])
		snprintf(value.reason, COUNTER_REASON,
		         "happens in the kernel, which perf_event_paranoid hides; " PERF_UNPARANOID);
	if (!can)
		memcpy(reason, value.reason, COUNTER_REASON);
	perf_slots_close(&s);
	return can;
}

/* An event that opens may still count nothing, so the probe counts cycles. */
static bool cycles_count(char reason[COUNTER_REASON], struct perf_reason *refused) {
	static const char *const cycles[] = {"cycles"};
	const struct counter_site site = {.threads = 1};
	struct perf_slots s = {.count = 0};
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	bool good = perf_open(&s, &site, cycles, 1) == 0 && perf_slots_start(&s) == 0 && perf_slots_stop(&s) == 0;
	if (good)
		perf_read(&s, &value);
	*refused = s.at[0].refused;
	perf_slots_close(&s);
	if (refused->reason)
		snprintf(reason, COUNTER_REASON, "%s", refused->reason);
	else if (value.status == COUNTER_UNAVAILABLE)
		snprintf(reason, COUNTER_REASON, "hardware events cannot be counted: %.100s", value.reason);
	else
		snprintf(reason, COUNTER_REASON, "the hardware PMU counts nothing");
	return value.status != COUNTER_UNAVAILABLE && value.value > 0;
}

static void perf_probe(struct counter_probe *probe) {
	struct perf_reason refused;
	char reason[COUNTER_REASON];
	bool user_only;
	int error = perf_event_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, &user_only);
	*probe = (struct counter_probe){.usable = error == 0};
	if (error) {
		refused = perf_reason_here(error);
		snprintf(probe->reason, sizeof probe->reason, "%s; rusage is used instead", refused.reason);
		snprintf(probe->fix, sizeof probe->fix, "%s", refused.fix);
		return;
	}
	bool hardware = cycles_count(reason, &refused);
	probe->hardware = hardware;
	snprintf(probe->reason, sizeof probe->reason, "software%s%.120s%s", hardware ? " and hardware events" : " events; ",
	         hardware ? "" : reason, user_only ? "; user code only, no context switches and migrations" : "");
	const char *fix = hardware || !refused.reason ? "" : refused.fix;
	snprintf(probe->fix, sizeof probe->fix, "%s%s%s", fix, *fix && user_only ? "; for the kernel's part " : "",
	         user_only ? PERF_UNPARANOID : "");
}

const struct counter_backend counter_perf = {
	.name = "perf",
	.summary = "software and generic hardware events of Linux perf, each thread its own",
	.trees = true,
	.state_size = sizeof(struct perf_slots),
	.events = events,
	.probe = perf_probe,
	.can = perf_can,
	.open = perf_open,
	.start = perf_slots_start,
	.stop = perf_slots_stop,
	.read = perf_read,
	.close = perf_slots_close,
};
