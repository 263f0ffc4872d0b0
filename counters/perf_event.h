/* SPDX-License-Identifier: BSD-3-Clause */
/* One event of perf_event_open(2), counted for the thread that opens it. */
#ifndef COUNTERS_PERF_EVENT_H
#define COUNTERS_PERF_EVENT_H
#include <linux/types.h>
#include <stdbool.h>

/* What read(2) gives; times in ns. */
struct perf_sample {
	__u64 value, enabled, running;
};

struct perf_event {
	int file;       /* plus 1: 0 is closed */
	int error;      /* errno of a failed open */
	bool user_only; /* the kernel's side may not be seen (perf_event_paranoid), or not even the user's */
	struct perf_sample begin, end;
};

/* Opens it disabled: with the kernel's side where that is allowed, else without. 0 or -1 and event->error. */
int perf_event_open(struct perf_event *event, __u32 type, __u64 config);
/* The same, for this thread and all that it starts from then on, threads and processes; what ended is still counted. */
int perf_event_open_tree(struct perf_event *event, __u32 type, __u64 config);
/* 0 or -1; both do nothing to an event that is not open. */
int perf_event_start(struct perf_event *event);
int perf_event_stop(struct perf_event *event);
void perf_event_close(struct perf_event *event);

#endif
