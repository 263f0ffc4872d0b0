/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of processor time, in both versions of control groups; counts of events that shared a counter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/omp/omp_impl.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tests/tap.h"

static char root[] = "/tmp/sweetspot-groups-XXXXXX";

static void folder_make(const char *name) {
	char *path = mem_printf("%s/%s", root, name);
	mkdir(path, 0700);
	free(path);
}

static void file_make(const char *name, const char *text) {
	char *path = mem_printf("%s/%s", root, name);
	FILE *file = fopen(path, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
	free(path);
}

static double quota_of(const char *groups) {
	char *path = mem_printf("%s/groups", root);
	file_make("groups", groups);
	double quota = omp_quota_read(path, root);
	free(path);
	return quota;
}

/* As the kernel answers: the count, and the times that the event was wanted and had a counter. */
static void count_check(uint64_t wanted, uint64_t had, uint64_t expected, bool scaled) {
	const uint64_t answer[] = {100, wanted, had};
	struct omp_record *record = mem_alloc(1, sizeof *record);
	struct omp_region region = {.calls = 0};
	struct omp_counts counts = {{0}};
	FILE *file = tmpfile();
	bool wrote = file && fwrite(answer, sizeof answer, 1, file) == 1 && fflush(file) == 0;
	int copy = wrote ? dup(fileno(file)) : -1;
	counts.file[0] = copy + 1;
	lseek(copy, 0, SEEK_SET);
	omp_counts_end(&counts, record, &region);
	ok(region.counts[0] == expected && (record->events[0].scaled == 1) == scaled,
	   "a count that had a counter for %llu of %llu is %llu, and %s", (unsigned long long)had,
	   (unsigned long long)wanted, (unsigned long long)expected, scaled ? "marked as scaled" : "exact");
	if (file)
		fclose(file);
	free(record);
}

int main(void) {
	count_check(1000, 1000, 100, false);
	count_check(1000, 250, 400, true);
	if (!mkdtemp(root))
		return 99;
	folder_make("job");
	folder_make("job/step");
	folder_make("cpu");
	folder_make("cpu/job");
	ok(isinf(quota_of("0::/job/step\n")), "there is no limit without a file");
	file_make("job/step/cpu.max", "max 100000\n");
	ok(isinf(quota_of("0::/job/step\n")), "max means no limit, too");
	file_make("job/cpu.max", "250000 100000\n");
	ok(quota_of("0::/job/step\n") == 2.5, "the group above limits, too");
	file_make("job/step/cpu.max", "50000 100000\n");
	ok(quota_of("0::/job/step\n") == 0.5, "the tightest one counts");
	ok(quota_of("0::/job\n") == 2.5, "the limit of a group below does not count");
	ok(isinf(quota_of("0::/\n")), "the root is free");
	ok(isinf(quota_of("0::/../elsewhere\n")), "a group that cannot be seen from here is free");
	file_make("cpu/job/cpu.cfs_quota_us", "-1\n");
	file_make("cpu/job/cpu.cfs_period_us", "100000\n");
	ok(isinf(quota_of("3:cpu,cpuacct:/job\n")), "-1 means no limit");
	file_make("cpu/job/cpu.cfs_quota_us", "300000\n");
	ok(quota_of("4:memory:/x\n3:cpu,cpuacct:/job\n") == 3, "version 1");
	ok(quota_of("3:cpuacct,cpu:/job\n") == 3, "names of version 1 may come in another order");
	file_make("job/cpu.max", "0 0\n");
	ok(isinf(quota_of("0::/job\n")), "nonsense means no limit");
	ok(isinf(quota_of("nothing\n:\n")), "a process without a group has no limit");
	ok(isinf(omp_quota_read("/nonexistent", root)), "a missing list of groups means no limit");
	tree_remove(root);
	return tap_done();
}
