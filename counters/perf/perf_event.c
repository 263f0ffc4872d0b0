/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/perf/perf.h"

/* Members follow their leader. Inherited events can't be read as a group (before Linux 6.13 they can't even be opened
 * as one), and they start by themselves because an ioctl can't reach a process that does not exist yet. */
static int event_open(const struct perf_group *group, __u32 type, __u64 config) {
	const bool leads = group->count == 0;
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = type,
		.config = config,
		.disabled = leads,
		.inherit = group->tree,
		.enable_on_exec = leads && group->tree,
		.exclude_kernel = group->user_only,
		.exclude_hv = 1,
		.read_format =
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | (group->tree ? 0 : PERF_FORMAT_GROUP),
	};
	int leader = leads ? -1 : group->files[0];
	int file = (int)syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	return file < 0 ? -errno : file;
}

static int each_read(struct perf_group *group, struct perf_sample *samples) {
	for (size_t i = 0; i < group->count; i++)
		if (read(group->files[i], &samples[i], sizeof samples[i]) != (ssize_t)sizeof samples[i])
			return -1;
	return 0;
}

static int group_read(struct perf_group *group, struct perf_sample *samples) {
	struct {
		__u64 count, enabled, running, values[COUNTER_OPEN_MAX];
	} all;
	ssize_t size = (ssize_t)((3 + group->count) * sizeof(__u64));
	if (group->tree)
		return each_read(group, samples);
	if (read(group->files[0], &all, sizeof all) != size || all.count != group->count)
		return -1;
	for (size_t i = 0; i < group->count; i++)
		samples[i] = (struct perf_sample){all.values[i], all.enabled, all.running};
	return 0;
}

int perf_group_add(struct perf_group *group, __u32 type, __u64 config) {
	if (group->count == COUNTER_OPEN_MAX)
		return -ENOSPC;
	int file = event_open(group, type, config);
	if (group->count == 0 && !group->user_only && (file == -EACCES || file == -EPERM)) {
		group->user_only = true;
		file = event_open(group, type, config);
		group->user_only = file >= 0;
	}
	if (file < 0)
		return file;
	group->files[group->count] = file;
	group->types[group->count] = type;
	group->configs[group->count] = config;
	return (int)group->count++;
}

static void files_close(struct perf_group *group) {
	while (group->count > 0)
		close(group->files[--group->count]);
}

/* Events wait for an exec only once. When the kernel switches between a process and its child it may swap their events
 * if they are alike (Linux, kernel/events/core.c, perf_event_context_sched_out), so the first child's exec may use up
 * the wait that all others inherit. */
static int tree_start(struct perf_group *group) {
	size_t count = group->count;
	files_close(group);
	while (group->count < count)
		if (perf_group_add(group, group->types[group->count], group->configs[group->count]) < 0)
			return -1;
	return 0;
}

/* Events must not count between a stop and the next start. */
int perf_group_start(struct perf_group *group) {
	if (group->count == 0)
		return 0;
	if (group->tree)
		return tree_start(group);
	memcpy(group->begin, group->end, sizeof *group->begin * group->count);
	return ioctl(group->files[0], PERF_EVENT_IOC_ENABLE, 0);
}

int perf_group_stop(struct perf_group *group) {
	if (group->count == 0)
		return 0;
	if (!group->tree && ioctl(group->files[0], PERF_EVENT_IOC_DISABLE, 0) != 0)
		return -1;
	return group_read(group, group->end);
}

struct perf_sample perf_group_counted(const struct perf_group *group, size_t event) {
	const struct perf_sample *a = &group->begin[event], *b = &group->end[event];
	return (struct perf_sample){b->value - a->value, b->enabled - a->enabled, b->running - a->running};
}

void perf_group_close(struct perf_group *group) {
	files_close(group);
	memset(group->begin, 0, sizeof group->begin);
	memset(group->end, 0, sizeof group->end);
	group->user_only = false;
}

int perf_event_try(__u32 type, __u64 config, bool tree, bool *user_only) {
	struct perf_group group = {.tree = tree};
	int index = perf_group_add(&group, type, config);
	if (user_only)
		*user_only = group.user_only;
	perf_group_close(&group);
	return index < 0 ? -index : 0;
}

static int package_open(__u32 type, __u64 config, bool times, unsigned long cpu) {
	struct perf_event_attr attr = {.size = sizeof attr,
	                               .type = type,
	                               .config = config,
	                               .read_format =
	                                   times ? PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING : 0};
	int file = (int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return file < 0 ? -errno : file;
}

static bool cpu_read(const char **text, unsigned long *cpu) {
	enum { CPU_MAX = 1 << 16 };
	char *after;
	if (!isdigit((unsigned char)**text))
		return false;
	errno = 0;
	*cpu = strtoul(*text, &after, 10);
	*text = after;
	return errno == 0 && *cpu <= CPU_MAX;
}

void perf_packages_open(__u32 type, __u64 config, bool times, const char *cpumask,
                        bool (*use)(void *ctx, int file, unsigned long cpu), void *ctx) {
	for (unsigned long from, to; *cpumask; cpumask += *cpumask == ',') {
		if (!cpu_read(&cpumask, &from))
			return;
		to = from;
		if (*cpumask == '-' && (cpumask++, !cpu_read(&cpumask, &to)))
			return;
		for (; from <= to; from++)
			if (!use(ctx, package_open(type, config, times, from), from))
				return;
	}
}

#define SOFTWARE(name, id)                                                                                             \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, false, false, "" }
#define CLOCK(name, id)                                                                                                \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, false, true, "" }
#define KERNEL(name, id)                                                                                               \
	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id, true, false, "" }
#define HARDWARE(name, id)                                                                                             \
	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id, false, false, "" }
/* perf_event_open(2): one byte each for the cache, the operation and its result. */
#define CACHE(name, cache, op, result)                                                                                 \
	{                                                                                                                  \
		name, PERF_TYPE_HW_CACHE,                                                                                      \
			PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                                           \
				PERF_COUNT_HW_CACHE_RESULT_##result << 16,                                                             \
			false, false, ""                                                                                           \
	}
#define READS(name, cache)  CACHE(name "-loads", cache, READ, ACCESS), CACHE(name "-load-misses", cache, READ, MISS)
#define WRITES(name, cache) CACHE(name "-stores", cache, WRITE, ACCESS), CACHE(name "-store-misses", cache, WRITE, MISS)
#define PREFETCHES(name, cache)                                                                                        \
	CACHE(name "-prefetches", cache, PREFETCH, ACCESS), CACHE(name "-prefetch-misses", cache, PREFETCH, MISS)

const struct perf_name perf_names[] = {
	CLOCK("task-clock", TASK_CLOCK),
	CLOCK("cpu-clock", CPU_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
	KERNEL("context-switches", CONTEXT_SWITCHES),
	KERNEL("cs", CONTEXT_SWITCHES),
	KERNEL("cpu-migrations", CPU_MIGRATIONS),
	KERNEL("migrations", CPU_MIGRATIONS),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	READS("L1-dcache", L1D),
	WRITES("L1-dcache", L1D),
	PREFETCHES("L1-dcache", L1D),
	READS("L1-icache", L1I),
	PREFETCHES("L1-icache", L1I),
	READS("LLC", LL),
	WRITES("LLC", LL),
	PREFETCHES("LLC", LL),
	READS("dTLB", DTLB),
	WRITES("dTLB", DTLB),
	PREFETCHES("dTLB", DTLB),
	READS("iTLB", ITLB),
	READS("branch", BPU),
	READS("node", NODE),
	WRITES("node", NODE),
	PREFETCHES("node", NODE),
	{.name = NULL},
};

/* "rHEX", or "PMU/rHEX/" for a PMU by its name. */
static bool raw_read(char *term, struct perf_name *out) {
	enum { DIGITS = 16 };
	char *slash = strchr(term, '/'), *name = slash ? slash + 1 : term;
	size_t digits = name[0] == 'r' ? strspn(name + 1, "0123456789abcdefABCDEF") : 0;
	*out = (struct perf_name){.type = PERF_TYPE_RAW, .config = digits ? strtoull(name + 1, NULL, 16) : 0};
	if (slash && (slash == term || slash - term >= (ptrdiff_t)sizeof out->pmu))
		return false;
	if (slash)
		memcpy(out->pmu, term, (size_t)(slash - term));
	return digits > 0 && digits <= DIGITS && strcmp(name + 1 + digits, slash ? "/" : "") == 0;
}

static bool term_find(char *term, struct perf_name *out) {
	for (const struct perf_name *known = perf_names; known->name; known++) {
		if (strcmp(known->name, term) == 0) {
			*out = *known;
			return true;
		}
	}
	return raw_read(term, out);
}

bool perf_name_next(const char **text, struct perf_name *out) {
	char term[80];
	size_t length = strcspn(*text, ",");
	snprintf(term, sizeof term, "%.*s", (int)length, *text);
	*text += length + ((*text)[length] == ',' && (*text)[length + 1]);
	return length < sizeof term && term_find(term, out);
}

bool perf_name_find(const char *name, struct perf_name *out) {
	struct perf_name further;
	bool good = perf_name_next(&name, out);
	while (good && *name)
		good = perf_name_next(&name, &further);
	return good;
}

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
