/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of events of perf_event_open(2), which count at the same time or not at all. */
#ifndef COUNTERS_PERF_EVENT_H
#define COUNTERS_PERF_EVENT_H
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#include "counters/backend/counter.h"

/* The data that read(2) returns for one event; times in ns. */
struct perf_sample {
	__u64 value, enabled, running;
};

struct perf_group {
	/* Counts not this thread but all processes that it starts from then on, from their exec; those that ended are
	 * included. */
	bool tree;
	bool user_only; /* the kernel's side is hidden (perf_event_paranoid) */
	size_t count;
	int files[COUNTER_OPEN_MAX];
	__u32 types[COUNTER_OPEN_MAX];
	__u64 configs[COUNTER_OPEN_MAX];
	struct perf_sample begin[COUNTER_OPEN_MAX], end[COUNTER_OPEN_MAX];
};

/* Adds an event; returns its index, or -errno. A zeroed group is empty; set `tree` before the first event. The first
 * event decides for all whether the kernel's side is counted, which it is if that is allowed. */
int perf_group_add(struct perf_group *group, __u32 type, __u64 config);
/* 0 or -1; both accept an empty group. */
int perf_group_start(struct perf_group *group);
int perf_group_stop(struct perf_group *group);
/* Values from the last start to the stop. */
struct perf_sample perf_group_counted(const struct perf_group *group, size_t event);
void perf_group_close(struct perf_group *group);
/* Can the event be opened alone? Returns 0 or the errno; user_only may be NULL. */
int perf_event_try(__u32 type, __u64 config, bool tree, bool *user_only);

#endif
