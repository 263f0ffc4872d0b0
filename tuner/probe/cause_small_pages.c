/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A page of 2 MiB takes one entry of the TLB, and one page fault, instead of 512. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tuner/probe/cause_impl.h"

static const double HELD = 2 << 20; /* bytes: small pages that any TLB of a processor with huge ones holds */

/* "always", "madvise" or "never"; "" if the kernel does not have them. */
static void policy_read(char policy[16]) {
	char line[80] = "";
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
	policy[0] = '\0';
	if (!file)
		return;
	const char *from = fgets(line, sizeof line, file) ? strchr(line, '[') : NULL;
	if (from)
		sscanf(from, "[%15[a-z]", policy);
	fclose(file);
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_variable huge[] = {{"GLIBC_TUNABLES", NULL, "glibc.malloc.hugetlb=1"}, {0}};
	char policy[16];
	policy_read(policy);
	size_t row = cause_row_today(subject);
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting worked");
	if (strcmp(policy, "madvise") != 0)
		return cause_untestable(test, "%s",
		                        *policy == 'a' ? "the kernel gives it huge pages already"
		                                       : "the kernel does not give any program huge pages");
	/* Its libraries stay in small pages whatever malloc does, and each page of its own memory was a fault. */
	double touched = cause_usage(subject, row, "minor_faults") * (double)sysconf(_SC_PAGESIZE),
		   bytes = fmin(touched, cause_usage(subject, row, "max_rss_bytes"));
	if (bytes < HELD)
		return cause_bounded(test, 1, "its %.2g MiB fit the TLB", bytes / 1048576);
	test->lowers = "minor_faults";
	return cause_environment(subject, row, huge, test);
}

const struct cause cause_small_pages = {"small_pages", "cpu", plan};
