/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "counters/perf/perf.h"
#include "base/rights.h"
#include "base/sys.h"

/* The PMU is "cpu" if all cores are of one kind; with several kinds, and on ARM, each PMU has a file `cpus` (Linux,
 * tools/perf/Documentation/intel-hybrid.txt). PMUs outside cores have `cpumask` instead. */
static bool pmu_read(const char *folder, const char *name, struct perf_pmu *pmu) {
	char path[512], line[32], *end;
	snprintf(path, sizeof path, "%s/%s/cpus", folder, name);
	if (name[0] == '.' || strlen(name) >= sizeof pmu->name || (strcmp(name, "cpu") != 0 && access(path, F_OK) != 0))
		return false;
	snprintf(path, sizeof path, "%s/%s/type", folder, name);
	if (!sys_read_line(path, line, sizeof line))
		return false;
	unsigned long type = strtoul(line, &end, 10);
	snprintf(pmu->name, sizeof pmu->name, "%s", name);
	pmu->type = (__u32)type;
	return end > line && type <= UINT32_MAX;
}

static int pmu_compare(const void *a, const void *b) {
	const struct perf_pmu *x = a, *y = b;
	bool raw_x = x->type == PERF_TYPE_RAW, raw_y = y->type == PERF_TYPE_RAW;
	return raw_x != raw_y ? raw_y - raw_x : (x->type > y->type) - (x->type < y->type);
}

void perf_pmus_find_in(const char *folder, struct perf_pmus *pmus) {
	DIR *dir = opendir(folder);
	pmus->count = 0;
	for (const struct dirent *entry; dir && pmus->count < PERF_PMUS_MAX && (entry = readdir(dir));)
		pmus->count += pmu_read(folder, entry->d_name, &pmus->at[pmus->count]);
	if (dir)
		closedir(dir);
	qsort(pmus->at, pmus->count, sizeof *pmus->at, pmu_compare);
}

/* This machine's, found once, because every event that is tried needs them. */
struct found {
	pthread_once_t once;
	struct perf_pmus pmus;
};

static struct found *found(void) {
	static struct found only = {.once = PTHREAD_ONCE_INIT};
	return &only;
}

static void found_read(void) {
	perf_pmus_find_in("/sys/bus/event_source/devices", &found()->pmus);
}

/* Reads the PMUs from /sys/bus/event_source/devices, or from a folder like it. */
static void perf_pmus_find(struct perf_pmus *pmus) {
	pthread_once(&found()->once, found_read);
	*pmus = found()->pmus;
}

/* With several PMUs the upper half of the number selects one: since Linux 5.13, on ARM since 6.6 (intel-hybrid.txt,
 * "PMU aware type"). Raw numbers belong to the first PMU. */
void perf_pmus_address(const struct perf_pmus *pmus, size_t pmu, const struct perf_name *event, __u32 *type,
                       __u64 *config) {
	bool several = pmus->count > 1, generic = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE;
	bool named = event->pmu[0] && pmu < pmus->count;
	*type = event->type == PERF_TYPE_RAW && (several || named) ? pmus->at[named ? pmu : 0].type : event->type;
	*config = event->config | (several && generic ? (__u64)pmus->at[pmu].type << 32 : 0);
}

#define UNWATCH  "sudo sysctl kernel.nmi_watchdog=0"
#define UNFILTER "start the container with --cap-add=PERFMON or --security-opt seccomp=unconfined"

static bool is_paranoid(const struct perf_facts *facts) {
	return !facts->capable && facts->paranoid >= 3;
}

static bool is_filtered(const struct perf_facts *facts) {
	return facts->seccomp;
}

static bool is_plain(const struct perf_facts *facts) {
	return !facts->capable;
}

static bool is_guest(const struct perf_facts *facts) {
	return !facts->pmu && facts->virtual_machine;
}

static bool is_bare(const struct perf_facts *facts) {
	return !facts->pmu;
}

/* The first match wins. Level 3 is a patch of Debian and Android: without a capability it forbids every event. */
static const struct {
	int error;
	bool (*when)(const struct perf_facts *facts); /* NULL: always */
	struct perf_reason reason;
} reasons[] = {
#define FORBIDDEN(error)                                                                                               \
	{error, is_paranoid, {"perf_event_paranoid is 3 or more: no counting without CAP_PERFMON", PERF_UNPARANOID}},      \
		{error, is_filtered, {"a seccomp filter, as containers have, forbids perf_event_open", UNFILTER}},             \
		{error, is_plain, {"not allowed without CAP_PERFMON", PERF_UNPARANOID}}, {                                     \
		error, NULL, {                                                                                                 \
			"a security module of the kernel forbids it", "see `sudo dmesg | grep -i denied`"                          \
		}                                                                                                              \
	}
	FORBIDDEN(EACCES),
	FORBIDDEN(EPERM),
#define ABSENT(error)                                                                                                  \
	{error,                                                                                                            \
	 is_guest,                                                                                                         \
	 {"no hardware PMU in this virtual machine",                                                                       \
	  "let the hypervisor pass its PMU on (QEMU: -cpu host,pmu=on; libvirt: <pmu state='on'/>)"}},                     \
		{error, is_bare, {"no hardware PMU that this kernel knows", ""}}, {                                            \
		error, NULL, {                                                                                                 \
			"this CPU's PMU lacks such an event", ""                                                                   \
		}                                                                                                              \
	}
	ABSENT(ENOENT),
	ABSENT(EOPNOTSUPP),
	ABSENT(ENODEV),
	ABSENT(ENXIO),
	{EINVAL, NULL, {"the kernel or the PMU rejects such an event", ""}},
	{EBUSY, NULL, {"another profiler or the NMI watchdog holds the counters", UNWATCH}},
	{ENOSPC, NULL, {"there are not enough free counters; the NMI watchdog may hold one", UNWATCH}},
	{EMFILE, NULL, {"too many open files: each event of each thread is one", "ulimit -n $(ulimit -Hn)"}},
	{ENFILE, NULL, {"too many open files in the whole system", "sudo sysctl fs.file-max=1000000"}},
	{ENOMEM, NULL, {"out of memory", ""}},
	{E2BIG, NULL, {"this kernel is too old for such an event", ""}},
	{ENOSYS, is_filtered, {"a seccomp filter, as containers have, hides perf_event_open", UNFILTER}},
	{ENOSYS, NULL, {"this kernel does not provide perf_event_open", "boot a kernel with CONFIG_PERF_EVENTS"}},
};

struct perf_reason perf_reason_find(int error, const struct perf_facts *facts) {
	for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].error == error && (!reasons[i].when || reasons[i].when(facts)))
			return reasons[i].reason;
	return (struct perf_reason){strerror(error), ""};
}

/* Hypervisors show up in the flags of x86 processors; elsewhere some do in sysfs or the device tree. */
static bool is_virtual(void) {
	mem_auto char *line = NULL;
	size_t size = 0;
	bool found = access("/sys/hypervisor/type", F_OK) == 0 || access("/proc/device-tree/hypervisor", F_OK) == 0;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && !found && getline(&line, &size, file) > 0 && line[0] != '\n')
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
	if (file)
		fclose(file);
	return found;
}

/* A property of the machine is read once, because hundreds of events may be refused and each asks for it. */
struct nature {
	pthread_once_t once;
	bool virtual_machine;
};

static struct nature *nature(void) {
	static struct nature only = {.once = PTHREAD_ONCE_INIT};
	return &only;
}

static void nature_read(void) {
	nature()->virtual_machine = is_virtual();
}

/* Only such an error depends on rights, which may be dropped at any time and are therefore read each time. */
static bool is_denial(int error) {
	return error == EACCES || error == EPERM || error == ENOSYS;
}

static void rights_find(struct perf_facts *facts) {
	char line[32];
	struct rights rights;
	if (sys_read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line))
		facts->paranoid = (int)strtol(line, NULL, 10);
	rights_read(&rights, "");
	facts->capable = rights_perf(&rights);
	facts->seccomp = rights.seccomp;
}

struct perf_reason perf_reason_here(int error) {
	struct perf_facts facts = {.paranoid = 2};
	struct perf_pmus pmus;
	if (is_denial(error))
		rights_find(&facts);
	pthread_once(&nature()->once, nature_read);
	facts.virtual_machine = nature()->virtual_machine;
	perf_pmus_find(&pmus);
	facts.pmu = pmus.count > 0;
	return perf_reason_find(error, &facts);
}

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

/* Intel's top-down metrics, which the kernel counts only in a group that TOPDOWN.SLOTS leads, and which it takes but
 * once (Linux, tools/perf/Documentation/topdown.txt). */
enum { TOPDOWN_SLOTS = 0x400, TOPDOWN_FIRST = 0x8000, TOPDOWN_LAST = 0x8700 };

static bool is_topdown(const struct perf_name *name) {
#if defined __x86_64__ || defined __i386__
	return name->type == PERF_TYPE_RAW && (name->config & 0xff) == 0 && name->config >= TOPDOWN_FIRST &&
	       name->config <= TOPDOWN_LAST;
#else
	return (void)name, false;
#endif
}

static int event_add(struct perf_slots *s, const struct perf_name *name, size_t lane, __u32 type, __u64 config) {
	struct perf_group *group = &s->groups[lane];
	if (s->topdown && name->type == PERF_TYPE_RAW && group->count == 0)
		perf_group_add(group, type, TOPDOWN_SLOTS);
	bool leads = group->count > 0 && group->types[0] == type && group->configs[0] == TOPDOWN_SLOTS;
	return leads && config == TOPDOWN_SLOTS ? 0 : perf_group_add(group, type, config);
}

static int lane_open(struct perf_slots *s, struct perf_term *term, size_t lane) {
	struct perf_slot *slot = &s->at[term->of];
	__u32 type = term->name.type;
	__u64 config = term->name.config;
	if (s->lanes > 1 || term->name.pmu[0])
		perf_pmus_address(&s->pmus, lane, &term->name, &type, &config);
	term->index[lane] = event_add(s, &term->name, lane, type, config);
	int error = -term->index[lane];
	if (error <= 0)
		slot->places++;
	else
		slot->refused = perf_reason_here(error);
	return error > 0 && is_crowded(s, &s->groups[lane], error, type, config) ? -1 : 0;
}

/* The lane of a PMU by its name, which a machine whose cores are all of one kind calls differently. */
static int named_open(struct perf_slots *s, struct perf_term *term) {
	for (size_t lane = 0; lane < s->pmus.count; lane++)
		if (strcmp(s->pmus.at[lane].name, term->name.pmu) == 0)
			return lane_open(s, term, lane);
	if (!s->at[term->of].refused.reason)
		s->at[term->of].refused = (struct perf_reason){"no core here has such a PMU", ""};
	return 0;
}

/* Raw numbers are valid for one PMU only: the first, if it is not named. */
static int term_open(struct perf_slots *s, struct perf_term *term) {
	size_t last = term->name.type == PERF_TYPE_RAW ? 1 : s->lanes;
	if (term->name.type == PERF_TYPE_SOFTWARE)
		return lane_open(s, term, PERF_SOFTWARE);
	if (term->name.pmu[0])
		return named_open(s, term);
	for (size_t lane = 0; lane < last; lane++)
		if (lane_open(s, term, lane) != 0)
			return -1;
	return 0;
}

static int slot_open(struct perf_slots *s, size_t i, const char *asked) {
	struct perf_slot *slot = &s->at[i];
	*slot = (struct perf_slot){.asked = asked};
	if (!perf_name_find(asked, &slot->name))
		return -1;
	while (*asked) {
		struct perf_term *term = s->term_count < COUNTER_OPEN_MAX ? &s->terms[s->term_count++] : NULL;
		if (!term)
			return -1;
		*term = (struct perf_term){.of = i, .index = {-1, -1, -1, -1, -1}};
		if (!perf_name_next(&asked, &term->name) || term_open(s, term) != 0)
			return -1;
	}
	return 0;
}

static bool any_topdown(const char *name) {
	struct perf_name one;
	while (*name && perf_name_next(&name, &one))
		if (is_topdown(&one))
			return true;
	return false;
}

/* Those come first, because the first event of a group leads it. */
static int names_open(struct perf_slots *s, const char *const *names, bool topdown) {
	for (size_t i = 0; i < s->count; i++)
		if (any_topdown(names[i]) == topdown && slot_open(s, i, names[i]) != 0)
			return -1;
	return 0;
}

static int each_open(struct perf_slots *s, bool tree, const char *const *names, size_t count) {
	perf_pmus_find(&s->pmus);
	s->lanes = lanes_count(&s->pmus);
	s->count = count;
	for (int g = 0; g < PERF_GROUPS; g++)
		s->groups[g].tree = tree;
	for (size_t i = 0; i < count; i++)
		s->topdown = s->topdown || any_topdown(names[i]);
	return names_open(s, names, true) != 0 || names_open(s, names, false) != 0 ? -1 : 0;
}

/* Hardware events start last and stop first, so that they count as little as possible of our own work. */
int perf_slots_start(void *slots) {
	struct perf_slots *s = slots;
	int failed = 0;
	for (int g = PERF_GROUPS - 1; g >= 0; g--)
		failed |= perf_group_start(&s->groups[g]);
	return failed ? -1 : 0;
}

int perf_slots_stop(void *slots) {
	struct perf_slots *s = slots;
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

/* Sums up the terms that this group counted. */
static bool group_seen(const struct perf_slots *s, size_t i, size_t group, struct perf_sample *sum) {
	bool found = false;
	*sum = (struct perf_sample){0, 0, 0};
	for (size_t t = 0; t < s->term_count; t++) {
		const struct perf_term *term = &s->terms[t];
		if (term->of != i || term->index[group] < 0)
			continue;
		struct perf_sample one = perf_group_counted(&s->groups[group], (size_t)term->index[group]);
		*sum = (struct perf_sample){sum->value + one.value, one.enabled, one.running};
		found = true;
	}
	return found;
}

/* One PMU at a time counts a thread, so values and running times add up. */
struct perf_seen perf_slots_seen(const struct perf_slots *s, size_t i) {
	struct perf_seen seen = {.only = NULL};
	struct perf_sample one;
	size_t groups = 0, last = 0;
	for (size_t g = 0; g < PERF_GROUPS; g++) {
		if (!group_seen(s, i, g, &one))
			continue;
		groups++;
		last = g;
		seen.sum.value += one.value;
		seen.sum.running += one.running;
		seen.sum.enabled = one.enabled > seen.sum.enabled ? one.enabled : seen.sum.enabled;
		seen.user_only = seen.user_only || s->groups[g].user_only;
	}
	if (groups > 0 && groups < s->pmus.count && last != PERF_SOFTWARE)
		seen.only = s->lanes > 1 || s->at[i].name.pmu[0] ? s->pmus.at[last].name : "one kind";
	return seen;
}

void perf_slots_close(void *slots) {
	struct perf_slots *s = slots;
	for (int g = 0; g < PERF_GROUPS; g++)
		perf_group_close(&s->groups[g]);
}
