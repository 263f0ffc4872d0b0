/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the perf backend that need no counters: names, the PMUs of made-up machines, values, reasons. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sys/stat.h>

#include "counters/perf/perf.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tests/counters/perf_help.h"

enum { ERRNO_MAX = 140 };

static void check_names(void) {
	struct perf_name found;
	int doubles = 0, lost = 0;
	for (const struct perf_name *a = perf_names; a->name; a++) {
		for (const struct perf_name *b = a + 1; b->name; b++)
			doubles += strcmp(a->name, b->name) == 0;
		lost += !perf_name_find(a->name, &found) || found.type != a->type || found.config != a->config;
	}
	ok(doubles == 0, "names are distinct");
	ok(lost == 0, "every name is found");
	const struct counter_backend *perf = counter_find("perf");
	for (size_t i = 0; perf->events[i]; i++)
		ok(perf_name_find(perf->events[i], &found), "%s is one of them", perf->events[i]);
	ok(perf_name_find("LLC-load-misses", &found) && found.type == PERF_TYPE_HW_CACHE && found.config == 0x10002,
	   "a cache event is cache, operation and result, a byte each");
	ok(perf_name_find("dTLB-store-misses", &found) && found.config == 0x10103, "a cache event of the TLB is found");
}

static void check_raw(void) {
	static const char *const bad[] = {"r",  "",      "rg",      "r1g", "r11112222333344445",
	                                  "R1", "cycle", "cycles ", "r-1", "r0x1"};
	struct perf_name found;
	ok(perf_name_find("r1c0", &found) && found.type == PERF_TYPE_RAW && found.config == 0x1c0, "a raw event");
	ok(perf_name_find("rFFFFFFFFFFFFFFFF", &found) && found.config == UINT64_MAX, "the largest");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		ok(!perf_name_find(bad[i], &found), "\"%s\" is none", bad[i]);
}

static void file_put(const char *folder, const char *pmu, const char *name, const char *text) {
	char *dir = mem_printf("%s/%s", folder, pmu), *path = mem_printf("%s/%s", dir, name);
	mkdir(dir, 0700);
	FILE *file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! cannot write %s\n", path);
	free(path);
	free(dir);
}

static void check_address(const struct perf_pmus *pmus, const char *name, size_t pmu, __u32 want_type, __u64 want) {
	struct perf_name event;
	__u32 type;
	__u64 config;
	perf_name_find(name, &event);
	perf_pmus_address(pmus, pmu, &event, &type, &config);
	ok(type == want_type && config == want, "%s on PMU %zu of %zu is %u, %llx", name, pmu, pmus->count, type,
	   (unsigned long long)config);
}

static void check_hybrid(const char *folder) {
	struct perf_pmus pmus;
	file_put(folder, "cpu_atom", "type", "10\n");
	file_put(folder, "cpu_atom", "cpus", "16-23\n");
	file_put(folder, "cpu_core", "type", "4\n");
	file_put(folder, "cpu_core", "cpus", "0-15\n");
	file_put(folder, "uncore_imc_0", "type", "14\n");
	file_put(folder, "uncore_imc_0", "cpumask", "0\n");
	file_put(folder, "software", "type", "1\n");
	file_put(folder, "broken", "type", "many\n");
	file_put(folder, "broken", "cpus", "0\n");
	file_put(folder, "typeless", "cpus", "0\n");
	perf_pmus_find_in(folder, &pmus);
	ok(pmus.count == 2 && strcmp(pmus.at[0].name, "cpu_core") == 0 && pmus.at[0].type == 4 &&
	       strcmp(pmus.at[1].name, "cpu_atom") == 0 && pmus.at[1].type == 10,
	   "two kinds of cores are two PMUs, and PMUs outside cores do not count");
	check_address(&pmus, "instructions", 0, PERF_TYPE_HARDWARE, 0x400000001);
	check_address(&pmus, "instructions", 1, PERF_TYPE_HARDWARE, 0xa00000001);
	check_address(&pmus, "LLC-loads", 1, PERF_TYPE_HW_CACHE, 0xa00000002);
	check_address(&pmus, "r1c0", 1, PERF_TYPE_RAW, 0x1c0);
	check_address(&pmus, "task-clock", 1, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

static void check_pmus(void) {
	char template[] = "/tmp/sweetspot-test-XXXXXX", *folder = mkdtemp(template);
	struct perf_pmus pmus;
	if (!folder) {
		printf("Bail out! no folder to work in\n");
		exit(99);
	}
	perf_pmus_find_in(folder, &pmus);
	ok(pmus.count == 0, "a folder without PMUs has none");
	file_put(folder, "cpu", "type", "4\n");
	perf_pmus_find_in(folder, &pmus);
	ok(pmus.count == 1 && pmus.at[0].type == 4, "the PMU of a processor with cores of one kind");
	check_address(&pmus, "cycles", 0, PERF_TYPE_HARDWARE, 0);
	check_address(&pmus, "r1c0", 0, PERF_TYPE_RAW, 0x1c0);
	tree_remove(folder);
	mkdir(folder, 0700);
	check_hybrid(folder);
	ok(tree_remove(folder) == 0, "the folder of the test can be removed");
	perf_pmus_find_in(folder, &pmus);
	ok(pmus.count == 0, "a missing folder has no PMU");
}

static struct counter_value value_of(const char *name, struct perf_seen seen) {
	struct counter_value value;
	struct perf_name event;
	perf_name_find(name, &event);
	perf_value_fill(&value, name, &event, &seen);
	return value;
}

static void check_value(const char *name, struct perf_seen seen, enum counter_status status, double want,
                        const char *reason) {
	struct counter_value value = value_of(name, seen);
	bool right = status == COUNTER_UNAVAILABLE ? isnan(value.value) : fabs(value.value - want) <= 1e-9 * want;
	bool told = *reason ? strstr(value.reason, reason) != NULL : value.reason[0] == '\0';
	if (!ok(value.status == status && right && told, "%s: %s, %s", name, counter_status_name(status), reason))
		printf("# %s %g \"%s\"\n", counter_status_name(value.status), value.value, value.reason);
}

static void check_values(void) {
	const struct perf_sample half = {1000, 200, 100}, all = {1000, 200, 200}, never = {0, 200, 0}, idle = {0, 0, 0};
	check_value("cycles", (struct perf_seen){.sum = all}, COUNTER_COUNTED, 1000, "");
	check_value("task-clock", (struct perf_seen){.sum = all}, COUNTER_COUNTED, 1e-6, "");
	check_value("cycles", (struct perf_seen){.sum = half}, COUNTER_SCALED, 2000, "50 %");
	check_value("cycles", (struct perf_seen){.sum = {1000, 300, 299}}, COUNTER_SCALED, 1000 / 299. * 300, "99.7 %");
	check_value("cycles", (struct perf_seen){.sum = never}, COUNTER_UNAVAILABLE, 0, "never scheduled");
	check_value("cycles", (struct perf_seen){.sum = never}, COUNTER_UNAVAILABLE, 0,
	            "sudo sysctl kernel.nmi_watchdog=0");
	check_value("cycles", (struct perf_seen){.sum = idle}, COUNTER_UNAVAILABLE, 0, "nothing ran");
	check_value("cycles", (struct perf_seen){.sum = all, .user_only = true}, COUNTER_COUNTED, 1000, "user code only");
	check_value("cycles", (struct perf_seen){.sum = all, .only = "cpu_core"}, COUNTER_COUNTED, 1000, "cpu_core only");
	check_value("context-switches", (struct perf_seen){.sum = all}, COUNTER_COUNTED, 1000, "");
	check_value("context-switches", (struct perf_seen){.sum = {0, 200, 200}, .user_only = true}, COUNTER_UNAVAILABLE, 0,
	            PERF_UNPARANOID);
	check_value("faults", (struct perf_seen){.sum = {0, 200, 200}}, COUNTER_COUNTED, 0, "");
}

/* Every combination of the facts that a reason can depend on. */
static struct perf_facts facts_at(int i) {
	return (struct perf_facts){
		.capable = i & 1, .seccomp = i & 2, .virtual_machine = i & 4, .pmu = i & 8, .paranoid = (i >> 4) % 6 - 1};
}

static void check_reasons(void) {
	static const int fixable[] = {EACCES, EPERM, EBUSY, ENOSPC, EMFILE, ENFILE, ENOSYS};
	int empty = 0, long_ones = 0, helpless = 0;
	for (int i = 0; i < 96; i++) {
		const struct perf_facts facts = facts_at(i);
		for (int error = 1; error < ERRNO_MAX; error++) {
			struct perf_reason reason = perf_reason_find(error, &facts);
			empty += !reason.reason || !reason.reason[0] || !reason.fix;
			long_ones += strlen(reason.reason) + strlen(reason.fix) + 2 >= COUNTER_REASON;
		}
		for (size_t k = 0; k < sizeof fixable / sizeof *fixable; k++)
			helpless += perf_reason_find(fixable[k], &facts).fix[0] == '\0';
	}
	ok(empty == 0, "every errno has a reason");
	ok(long_ones == 0, "none is cut off");
	ok(helpless == 0, "reasons with a remedy give it");
}

static void check_reason(int error, struct perf_facts facts, const char *reason, const char *fix) {
	struct perf_reason got = perf_reason_find(error, &facts);
	if (!ok(strstr(got.reason, reason) && strstr(got.fix, fix), "errno %d, level %d: %s", error, facts.paranoid,
	        reason))
		printf("# %s; %s\n", got.reason, got.fix);
}

static void check_rights(void) {
	check_reason(EACCES, (struct perf_facts){.paranoid = 3}, "perf_event_paranoid", "sysctl");
	check_reason(EPERM, (struct perf_facts){.paranoid = 4, .seccomp = true}, "perf_event_paranoid", "sysctl");
	check_reason(EPERM, (struct perf_facts){.paranoid = 2, .seccomp = true}, "seccomp", "--cap-add=PERFMON");
	check_reason(EPERM, (struct perf_facts){.paranoid = -1, .capable = true, .seccomp = true}, "seccomp", "--cap-add");
	check_reason(EPERM, (struct perf_facts){.paranoid = -1, .capable = true}, "security module", "dmesg");
	check_reason(ENOENT, (struct perf_facts){.virtual_machine = true}, "no hardware PMU in this virtual machine",
	             "pmu=on");
	check_reason(EOPNOTSUPP, (struct perf_facts){.pmu = false}, "no hardware PMU", "");
	check_reason(ENOENT, (struct perf_facts){.pmu = true, .virtual_machine = true}, "lacks such an event", "");
	check_reason(ENOSYS, (struct perf_facts){.seccomp = true}, "seccomp", "--cap-add=PERFMON");
}

int main(void) {
	check_names();
	check_raw();
	check_pmus();
	check_values();
	check_reasons();
	check_rights();
	return tap_done();
}
