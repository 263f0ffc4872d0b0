/* SPDX-License-Identifier: BSD-3-Clause */
/* Perf events that are counted together: one group of hardware events on each core PMU, and one of software events. */
#ifndef COUNTERS_PERF_SLOTS_H
#define COUNTERS_PERF_SLOTS_H
#include "counters/perf/event.h"
#include "counters/perf/names.h"
#include "counters/perf/pmus.h"
#include "counters/perf/reasons.h"
#include "counters/perf/value.h"

enum { PERF_SOFTWARE = PERF_PMUS_MAX, PERF_GROUPS };

/* One requested event. */
struct perf_slot {
	const char *asked;
	struct perf_name name;
	int index[PERF_GROUPS]; /* in each group; below 0: absent */
	size_t places;          /* groups that have it; 0: see refused */
	struct perf_reason refused;
};

struct perf_slots {
	struct perf_pmus pmus;
	size_t lanes; /* PMUs in use; at least one, known or not */
	struct perf_slot at[COUNTER_OPEN_MAX];
	size_t count;
	struct perf_group groups[PERF_GROUPS];
};

/* Opens into a zeroed structure; 0, or -1 if fewer events might open. An event that is refused on its own does not fail
 * the call. Close it in any case. */
int perf_slots_open(struct perf_slots *s, bool tree, const char *const *names, size_t count);
int perf_slots_start(struct perf_slots *s);
int perf_slots_stop(struct perf_slots *s);
struct perf_seen perf_slots_seen(const struct perf_slots *s, size_t slot);
void perf_slots_close(struct perf_slots *s);

#endif
