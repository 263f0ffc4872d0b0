/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/perf/slots.h"

#include <errno.h>
#include <linux/perf_event.h>

/* Kernels that can't select a PMU open events on one of them. */
static size_t lanes_count(const struct perf_pmus *pmus) {
	const struct perf_name cycles = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES};
	__u32 type;
	__u64 config;
	if (pmus->count < 2)
		return 1;
	perf_pmus_address(pmus, 0, &cycles, &type, &config);
	return perf_event_try(type, config, false, NULL) == 0 ? pmus->count : 1;
}

/* Did a limit prevent one more event, so that fewer may work? */
static bool is_crowded(const struct perf_slots *s, const struct perf_group *group, int error, __u32 type,
                       __u64 config) {
	if (error == EMFILE || error == ENFILE || error == ENOMEM)
		return s->count > 1;
	return group->count > 0 && perf_event_try(type, config, group->tree, NULL) == 0;
}

static int lane_open(struct perf_slots *s, struct perf_slot *slot, size_t lane) {
	__u32 type = slot->name.type;
	__u64 config = slot->name.config;
	if (s->lanes > 1)
		perf_pmus_address(&s->pmus, lane, &slot->name, &type, &config);
	slot->index[lane] = perf_group_add(&s->groups[lane], type, config);
	int error = -slot->index[lane];
	if (error <= 0)
		slot->places++;
	else
		slot->refused = perf_reason_here(error);
	return error > 0 && is_crowded(s, &s->groups[lane], error, type, config) ? -1 : 0;
}

/* Raw numbers are valid for the first PMU only. */
static int slot_open(struct perf_slots *s, struct perf_slot *slot) {
	size_t last = slot->name.type == PERF_TYPE_RAW ? 1 : s->lanes;
	if (slot->name.type == PERF_TYPE_SOFTWARE)
		return lane_open(s, slot, PERF_SOFTWARE);
	for (size_t lane = 0; lane < last; lane++)
		if (lane_open(s, slot, lane) != 0)
			return -1;
	return 0;
}

static int each_open(struct perf_slots *s, bool tree, const char *const *names, size_t count) {
	perf_pmus_find(&s->pmus);
	s->lanes = lanes_count(&s->pmus);
	s->count = count;
	for (int g = 0; g < PERF_GROUPS; g++)
		s->groups[g].tree = tree;
	for (size_t i = 0; i < count; i++) {
		struct perf_slot *slot = &s->at[i];
		*slot = (struct perf_slot){.asked = names[i], .index = {-1, -1, -1, -1, -1}};
		if (!perf_name_find(names[i], &slot->name) || slot_open(s, slot) != 0)
			return -1;
	}
	return 0;
}

/* Hardware events start last and stop first, so that they count as little as possible of our own work. */
int perf_slots_start(struct perf_slots *s) {
	int failed = 0;
	for (int g = PERF_GROUPS - 1; g >= 0; g--)
		failed |= perf_group_start(&s->groups[g]);
	return failed ? -1 : 0;
}

int perf_slots_stop(struct perf_slots *s) {
	int failed = 0;
	for (int g = 0; g < PERF_GROUPS; g++)
		failed |= perf_group_stop(&s->groups[g]);
	return failed ? -1 : 0;
}

/* A group that the kernel accepts may still be too large, because the kernel does not know which counters others hold.
 */
static bool is_never_scheduled(struct perf_slots *s) {
	bool enabled = false, running = false;
	if (perf_slots_start(s) != 0 || perf_slots_stop(s) != 0)
		return false;
	for (size_t lane = 0; lane < s->lanes; lane++) {
		struct perf_sample first = perf_group_counted(&s->groups[lane], 0);
		enabled = enabled || (s->groups[lane].count > 1 && first.enabled > 0);
		running = running || first.running > 0;
	}
	return enabled && !running;
}

/* Events for future processes are tried in this thread first. */
int perf_slots_open(struct perf_slots *s, bool tree, const char *const *names, size_t count) {
	if (tree) {
		struct perf_slots tried = {.count = 0};
		int failed = perf_slots_open(&tried, false, names, count);
		perf_slots_close(&tried);
		if (failed)
			return -1;
	}
	if (each_open(s, tree, names, count) != 0)
		return -1;
	return !tree && is_never_scheduled(s) ? -1 : 0;
}

/* One PMU at a time counts a thread, so values and running times add up. */
struct perf_seen perf_slots_seen(const struct perf_slots *s, size_t i) {
	const struct perf_slot *slot = &s->at[i];
	struct perf_seen seen = {.only = NULL};
	for (size_t g = 0; g < PERF_GROUPS; g++) {
		if (slot->index[g] < 0)
			continue;
		struct perf_sample one = perf_group_counted(&s->groups[g], (size_t)slot->index[g]);
		seen.sum.value += one.value;
		seen.sum.running += one.running;
		seen.sum.enabled = one.enabled > seen.sum.enabled ? one.enabled : seen.sum.enabled;
		seen.user_only = seen.user_only || s->groups[g].user_only;
		if (slot->places < s->pmus.count && g != PERF_SOFTWARE)
			seen.only = s->lanes > 1 ? s->pmus.at[g].name : "one kind";
	}
	return seen;
}

void perf_slots_close(struct perf_slots *s) {
	for (int g = 0; g < PERF_GROUPS; g++)
		perf_group_close(&s->groups[g]);
}
