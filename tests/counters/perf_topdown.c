/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intel's top-down metrics open in a group that TOPDOWN.SLOTS leads, whatever their order; a system call of our own
 * plays the kernel. */
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/perf/perf.h"
#include "tests/tap.h"

enum { OPENED_MAX = 64 };
static struct {
	__u32 type;
	__u64 config;
	int leader, file;
} opened[OPENED_MAX];
static size_t count;

long syscall(long number, ...) {
	va_list ap;
	va_start(ap, number);
	const struct perf_event_attr *attr = va_arg(ap, const struct perf_event_attr *);
	va_arg(ap, int);
	va_arg(ap, int);
	int leader = va_arg(ap, int);
	va_end(ap);
	if (number != SYS_perf_event_open || count == OPENED_MAX)
		return -1;
	opened[count].type = attr->type;
	opened[count].config = attr->config;
	opened[count].leader = leader;
	opened[count].file = dup(STDOUT_FILENO);
	return opened[count++].file;
}

static size_t times(__u64 config) {
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += opened[i].config == config && opened[i].type == PERF_TYPE_RAW;
	return found;
}

static bool led(void) {
	for (size_t i = 0; i < count; i++)
		if (opened[i].config >= 0x8000 && opened[i].leader != opened[0].file)
			return false;
	return count > 0 && opened[0].config == 0x400 && opened[0].leader == -1;
}

static void test_names(const char *label, size_t names, const char *const *asked, bool topdown) {
	struct perf_slots slots = {.count = 0};
	count = 0;
	perf_slots_open(&slots, false, asked, names);
	ok(slots.count == names && times(0x400) == 1 && led() == topdown, "%s", label);
	for (size_t i = 0; i < names; i++)
		ok(slots.at[i].places > 0, "%s is in a group", asked[i]);
	perf_slots_close(&slots);
}

int main(void) {
#if defined __x86_64__ || defined __i386__
	test_names("slots lead a metric", 1, (const char *const[]){"r8000"}, true);
	test_names("slots lead metrics that come last", 3, (const char *const[]){"r00c0", "r8300", "r8700"}, true);
	test_names("slots are opened once if they are asked for", 3, (const char *const[]){"r8300", "r0400", "r8200"},
	           true);
	test_names("without a metric slots are an event as others", 2, (const char *const[]){"r00c0", "r0400"}, false);
#endif
	return tap_done();
}
