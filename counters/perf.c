/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux perf: software events, and hardware events by the kernel's generic names or the CPU's own numbers. Hardware events
 * that are opened together are one group on each PMU of cores, software events another. Where the kernel's side may not be
 * seen (perf_event_paranoid 2), the kernel still opens context-switches and cpu-migrations for the user's side and then
 * silently counts 0, because both happen in the kernel: they are unavailable then. */
#include <config.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "counters/counter.h"
#include "counters/perf_event.h"
#include "counters/perf_names.h"
#include "counters/perf_pmus.h"
#include "counters/perf_reasons.h"
#include "counters/perf_value.h"

enum { SOFTWARE = PERF_PMUS_MAX, GROUPS };

static const char *const events[] = {"task-clock", "page-faults", "minor-faults", "major-faults", "context-switches",
                                     "cpu-migrations", "cycles", "instructions", NULL};

/* One event that was asked for. */
struct slot {
	const char *asked;
	struct perf_name name;
	int index[GROUPS]; /* in each group; below 0: not there */
	size_t places;     /* groups where it is, of those where it could be */
	struct perf_reason refused;
};

struct perf_state {
	struct perf_pmus pmus;
	size_t lanes; /* PMUs that are used; at least one, known or not */
	struct slot slots[COUNTER_OPEN_MAX];
	size_t count;
	struct perf_group groups[GROUPS];
};

/* Kernels that can't say which PMU is meant open events on one of them. */
static size_t lanes_count(const struct perf_pmus *pmus) {
	const struct perf_name cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
	__u32 type;
	__u64 config;
	if (pmus->count < 2)
		return 1;
	perf_pmus_address(pmus, 0, &cycles, &type, &config);
	return perf_event_try(type, config, false, NULL) == 0 ? pmus->count : 1;
}

/* Are there too many of something for one more, so that fewer may do? */
static bool is_crowded(const struct perf_state *s, const struct perf_group *group, int error, __u32 type,
                       __u64 config) {
	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		return s->count > 1;
	return group->count > 0 && perf_event_try(type, config, group->tree, NULL) == 0;
}

static int lane_open(struct perf_state *s, struct slot *slot, size_t lane) {
	struct perf_facts facts;
	__u32 type = slot->name.type;
	__u64 config = slot->name.config;
	if (s->lanes > 1)
		perf_pmus_address(&s->pmus, lane, &slot->name, &type, &config);
	slot->index[lane] = perf_group_add(&s->groups[lane], type, config);
	int error = -slot->index[lane];
	if (error <= 0) {
		slot->places++;
	} else {
		perf_facts_read(&facts);
		slot->refused = perf_reason_find(error, &facts);
	}
	return error > 0 && is_crowded(s, &s->groups[lane], error, type, config) ? -1 : 0;
}

/* Raw numbers mean something to the first PMU only. */
static int slot_open(struct perf_state *s, struct slot *slot) {
	size_t last = slot->name.type == PERF_TYPE_RAW ? 1 : s->lanes;
	if (slot->name.type == PERF_TYPE_SOFTWARE)
		return lane_open(s, slot, SOFTWARE);
	for (size_t lane = 0; lane < last; lane++)
		if (lane_open(s, slot, lane) != 0)
			return -1;
	return 0;
}

static int perf_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct perf_state *s = state;
	if (count > COUNTER_OPEN_MAX)
		return -1;
	perf_pmus_find(&s->pmus);
	s->lanes = lanes_count(&s->pmus);
	s->count = count;
	for (int g = 0; g < GROUPS; g++)
		s->groups[g].tree = site->tree;
	for (size_t i = 0; i < count; i++) {
		struct slot *slot = &s->slots[i];
		*slot = (struct slot){.asked = names[i], .index = {-1, -1, -1, -1, -1}};
		if (!perf_name_find(names[i], &slot->name) || slot_open(s, slot) != 0)
			return -1;
	}
	return 0;
}

/* Hardware last, and stopped first: the least of our own doing is counted. */
static int perf_start(void *state) {
	struct perf_state *s = state;
	int failed = 0;
	for (int g = GROUPS - 1; g >= 0; g--)
		failed |= perf_group_start(&s->groups[g]);
	return failed ? -1 : 0;
}

static int perf_stop(void *state) {
	struct perf_state *s = state;
	int failed = 0;
	for (int g = 0; g < GROUPS; g++)
		failed |= perf_group_stop(&s->groups[g]);
	return failed ? -1 : 0;
}

/* A thread is counted by one PMU at a time: values and running times add up. */
static struct perf_seen slot_seen(const struct perf_state *s, const struct slot *slot) {
	struct perf_seen seen = {.only = NULL};
	for (size_t g = 0; g < GROUPS; g++) {
		if (slot->index[g] < 0)
			continue;
		struct perf_sample one = perf_group_counted(&s->groups[g], (size_t)slot->index[g]);
		seen.sum.value += one.value;
		seen.sum.running += one.running;
		seen.sum.enabled = one.enabled > seen.sum.enabled ? one.enabled : seen.sum.enabled;
		seen.user_only = seen.user_only || s->groups[g].user_only;
		if (slot->places < s->pmus.count && g != SOFTWARE)
			seen.only = s->lanes > 1 ? s->pmus.at[g].name : "one kind";
	}
	return seen;
}

static int perf_read(void *state, struct counter_value *values) {
	const struct perf_state *s = state;
	for (size_t i = 0; i < s->count; i++) {
		const struct slot *slot = &s->slots[i];
		const struct perf_seen seen = slot_seen(s, slot);
		if (slot->places == 0)
			counter_value_miss(&values[i], slot->asked, perf_value_unit(&slot->name), "%s%s%s", slot->refused.reason,
			                   slot->refused.fix[0] ? "; " : "", slot->refused.fix);
		else
			perf_value_fill(&values[i], slot->asked, &slot->name, &seen);
	}
	return 0;
}

static void perf_close(void *state) {
	struct perf_state *s = state;
	for (int g = 0; g < GROUPS; g++)
		perf_group_close(&s->groups[g]);
}

static bool perf_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	struct perf_state s = {.count = 0};
	struct perf_name name;
	struct counter_value value = {.reason = ""};
	if (!perf_name_find(event, &name)) {
		snprintf(reason, COUNTER_REASON, "perf has no event %.60s: names are those of `perf list`, or rHEX", event);
		return false;
	}
	bool can = perf_open(&s, site, &event, 1) == 0 && s.slots[0].places > 0;
	if (!can)
		perf_read(&s, &value);
	for (int g = 0; can && g < GROUPS; g++)
		can = !(name.in_kernel && s.groups[g].user_only);
	if (!can && !value.reason[0])
		snprintf(value.reason, COUNTER_REASON, "happens in the kernel, which perf_event_paranoid hides; " PERF_UNPARANOID);
	if (!can)
		memcpy(reason, value.reason, COUNTER_REASON);
	perf_close(&s);
	return can;
}

/* An event that opens may still count nothing, so cycles are really counted. */
static bool cycles_count(char reason[COUNTER_REASON], struct perf_reason *refused) {
	static const char *const cycles[] = {"cycles"};
	const struct counter_site site = {.threads = 1};
	struct perf_state s = {.count = 0};
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	bool good = perf_open(&s, &site, cycles, 1) == 0 && perf_start(&s) == 0 && perf_stop(&s) == 0;
	if (good)
		perf_read(&s, &value);
	*refused = s.slots[0].refused;
	perf_close(&s);
	if (refused->reason)
		snprintf(reason, COUNTER_REASON, "%s", refused->reason);
	else if (value.status == COUNTER_UNAVAILABLE)
		snprintf(reason, COUNTER_REASON, "hardware events can't be counted: %.100s", value.reason);
	else
		snprintf(reason, COUNTER_REASON, "the hardware PMU counts nothing");
	return value.status != COUNTER_UNAVAILABLE && value.value > 0;
}

static void perf_probe(struct counter_probe *probe) {
	struct perf_reason refused;
	struct perf_facts facts;
	char reason[COUNTER_REASON];
	bool user_only;
	int error = perf_event_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, &user_only);
	*probe = (struct counter_probe){.usable = error == 0};
	if (error) {
		perf_facts_read(&facts);
		refused = perf_reason_find(error, &facts);
		snprintf(probe->reason, sizeof probe->reason, "%s; rusage is used instead", refused.reason);
		snprintf(probe->fix, sizeof probe->fix, "%s", refused.fix);
		return;
	}
	bool hardware = cycles_count(reason, &refused);
	snprintf(probe->reason, sizeof probe->reason, "software%s%.120s%s", hardware ? " and hardware events" : " events; ",
	         hardware ? "" : reason, user_only ? "; user code only, at this perf_event_paranoid" : "");
	snprintf(probe->fix, sizeof probe->fix, "%s", user_only ? PERF_UNPARANOID : refused.reason ? refused.fix : "");
}

const struct counter_backend counter_perf = {
	.name = "perf",
	.summary = "software and generic hardware events of Linux perf, each thread its own",
	.trees = true,
	.state_size = sizeof(struct perf_state),
	.events = events,
	.probe = perf_probe,
	.can = perf_can,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.read = perf_read,
	.close = perf_close,
};
