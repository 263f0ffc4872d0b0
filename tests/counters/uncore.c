/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PMUs of memory controllers on a made-up machine, whose counters are the kernel's own: context switches of processors.
 */
#define DEVICES "devices"
#include "counters/uncore.c"

#include <sched.h>
#include <sys/stat.h>
#include <time.h>

#include "base/tree.h"
#include "tests/tap.h"

static void device(const char *name, const char *cpumask) {
	char path[200];
	snprintf(path, sizeof path, DEVICES "/%s", name);
	sys_make_dirs(path, NULL);
	snprintf(path, sizeof path, DEVICES "/%s/type", name);
	sys_write_file(path, "1\n", 2, NULL);
	snprintf(path, sizeof path, DEVICES "/%s/cpumask", name);
	sys_write_file(path, cpumask, strlen(cpumask), NULL);
}

/* Sleeps, so that the processor switches at least that often. */
static void work(int sleeps) {
	cpu_set_t first;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	for (int i = 0; i < sleeps; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
}

static double counted(const char *event, int sleeps, char reason[COUNTER_REASON]) {
	struct uncore s = {.count = 0};
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	bool good = uncore_open(&s, NULL, &event, 1) == 0 && uncore_start(&s) == 0;
	if (good)
		work(sleeps);
	good = good && uncore_stop(&s) == 0 && uncore_read(&s, &value) == 0;
	snprintf(reason, COUNTER_REASON, "%s", good ? value.reason : s.reason);
	uncore_close(&s);
	return good ? value.value : -1;
}

static void test_counts(void) {
	char reason[COUNTER_REASON];
	double one = counted("uncore_imc_0/r3/", 20, reason);
	ok(one >= 20, "a PMU by its full name counts the switches of 20 sleeps: %g (%s)", one, reason);
	ok(strstr(reason, "all programs"), "a value of the whole machine says that other programs are counted, too: %s",
	   reason);
	double all = counted("uncore_imc/r3/", 20, reason);
	ok(all >= 40, "a name without a number stands for the three PMUs that have it: %g", all);
	double sum = counted("uncore_imc_0/r3/,uncore_imc_0/r3/", 20, reason);
	ok(sum >= 40 && (uint64_t)sum % 2 == 0, "terms are added up: %g", sum);
}

/* Two sockets, of which the second one's counter was shared with other events. */
static void test_shared(void) {
	static const char *const names[] = {"a", "b"};
	struct file files[] = {{0, -1, 0, {100, 0, 0}, {400, 10, 10}},
	                       {0, -1, 1, {0, 50, 50}, {50, 150, 75}},
	                       {1, -1, 0, {7, 5, 5}, {7, 15, 5}}};
	struct uncore s = {.names = names, .count = 2, .file_count = 3, .files = files};
	struct counter_value values[2] = {{.name = NULL}};
	uncore_read(&s, values);
	ok(values[0].value == 500 && values[0].status == COUNTER_SCALED && strstr(values[0].reason, "25 %") &&
	       strstr(values[0].reason, "60 % in socket 0"),
	   "a shared counter is scaled, and the sockets are told apart: %g, %s", values[0].value, values[0].reason);
	ok(values[1].status == COUNTER_UNAVAILABLE && strstr(values[1].reason, "never"),
	   "one without a counter is not 0: %s", values[1].reason);
}

static void test_refused(void) {
	static const char *const wrong[][2] = {
		{"uncore_ha/r3/", "lacks the PMU uncore_ha"},
		{"amd_umc/r3/", "modprobe amd_uncore"},
		{"uncore_imc_0/rffff/", ""},
		{"uncore_imc/r3/,uncore_ha/r3/", "lacks the PMU uncore_ha"},
		{"uncore_bad/r3/", "lacks the PMU uncore_bad"},
		{"r3", "wants an event such as"},
		{"cycles", "wants an event such as"},
		{"uncore_imc_0/r3", "wants an event such as"},
		{"uncore_imcc/r3/", "lacks the PMU uncore_imcc"},
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char reason[COUNTER_REASON] = "";
		ok(!uncore_can(wrong[i][0], NULL, reason) && reason[0] && strstr(reason, wrong[i][1]), "%s is refused: %s",
		   wrong[i][0], reason);
	}
}

int main(void) {
	static char top[] = "/tmp/sweetspot-uncore-XXXXXX";
	char reason[COUNTER_REASON];
	if (!mkdtemp(top) || chdir(top) != 0)
		return 99;
	device("uncore_imc_0", "0\n");
	device("uncore_imc_1", "0\n");
	device("uncore_imc_2", "0-0\n");
	device("uncore_imcx_0", "0\n");
	device("uncore_bad", "-1\n");
	if (uncore_can("uncore_imc_0/r3/", NULL, reason))
		test_counts();
	else
		ok(strstr(reason, "sysctl kernel.perf_event_paranoid=0"), "the remedy is named: %s", reason);
	test_shared();
	if (!strstr(reason, "paranoid"))
		test_refused();
	tree_remove(top);
	return tap_done();
}
