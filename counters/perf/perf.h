/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of events of perf_event_open(2), which count at the same time or not at all. */
#ifndef COUNTERS_PERF_PERF_H
#define COUNTERS_PERF_PERF_H
#include <linux/types.h>

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

/* Opens an event of a PMU outside the cores on one processor of each package, as its file `cpumask` lists them ("0,64",
 * "0-3"), for all that runs there. `use` takes the file over, or gets -errno; it returns false to end this. times: a
 * file is read as a struct perf_sample, otherwise as its value alone. */
void perf_packages_open(__u32 type, __u64 config, bool times, const char *cpumask,
                        bool (*use)(void *ctx, int file, unsigned long cpu), void *ctx);

/* Events under the names that perf(1) uses. */

struct perf_name {
	const char *name; /* NULL: a raw event, by its number */
	__u32 type;
	__u64 config;
	bool in_kernel; /* it happens in the kernel, where user code never sees it */
	bool clock;     /* nanoseconds */
	char pmu[40];   /* the only PMU whose number it is; "": that of the cores */
};

extern const struct perf_name perf_names[]; /* ends with a name of NULL */
/* Accepts "rHEX", too, a raw event of the CPU's own numbering, "PMU/rHEX/", one of that PMU's numbering, and several of
 * these with commas between them, whose counts are added up; finds the first. False for names that perf does not know.
 */
bool perf_name_find(const char *name, struct perf_name *out);
/* Reads one of several, and goes on to the next: *text is then "" behind the last one. */
bool perf_name_next(const char **text, struct perf_name *out);

/* The PMUs of the cores. Processors with several kinds of cores have one PMU for each kind, and the PMU of the current
 * core counts a thread, so an event must be opened on all PMUs to be counted everywhere. */

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
void perf_pmus_find_in(const char *folder, struct perf_pmus *pmus);
/* The type and number of an event when this PMU counts it. */
void perf_pmus_address(const struct perf_pmus *pmus, size_t pmu, const struct perf_name *event, __u32 *type,
                       __u64 *config);

/* Why perf_event_open(2) refuses an event, and the remedy. */

#define PERF_UNPARANOID "sudo sysctl kernel.perf_event_paranoid=1"

/* Facts about this process, because the same errno has several meanings. */
struct perf_facts {
	int paranoid; /* kernel.perf_event_paranoid */
	bool capable; /* rights_perf */
	bool seccomp; /* a filter of system calls is on */
	bool virtual_machine, pmu;
};

struct perf_reason {
	const char *reason; /* never NULL */
	const char *fix;    /* "" if there is none */
};

struct perf_reason perf_reason_find(int error, const struct perf_facts *facts);
struct perf_reason perf_reason_here(int error); /* by the facts about this process */

/* Turns the kernel's counts into a value. */

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

/* Perf events that are counted together: one group of hardware events on each core PMU, and one of software events. */

enum { PERF_SOFTWARE = PERF_PMUS_MAX, PERF_GROUPS };

/* One requested event. */
struct perf_slot {
	const char *asked;
	struct perf_name name; /* the first of its terms */
	size_t places;         /* places of its terms; 0: see refused */
	struct perf_reason refused;
};

/* One of those that are added up. */
struct perf_term {
	size_t of; /* the slot */
	struct perf_name name;
	int index[PERF_GROUPS]; /* in each group; below 0: absent */
};

struct perf_slots {
	struct perf_pmus pmus;
	size_t lanes; /* PMUs in use; at least one, known or not */
	struct perf_slot at[COUNTER_OPEN_MAX];
	struct perf_term terms[COUNTER_OPEN_MAX];
	size_t count, term_count;
	bool topdown; /* some of them need TOPDOWN.SLOTS in front */
	struct perf_group groups[PERF_GROUPS];
};

/* Opens into a zeroed structure; 0, or -1 if fewer events might open. An event that is refused on its own does not fail
 * the call. Close it in any case. */
int perf_slots_open(struct perf_slots *s, bool tree, const char *const *names, size_t count);
/* These take a struct perf_slots, as backends do. */
int perf_slots_start(void *slots);
int perf_slots_stop(void *slots);
struct perf_seen perf_slots_seen(const struct perf_slots *s, size_t slot);
void perf_slots_close(void *slots);
#endif
