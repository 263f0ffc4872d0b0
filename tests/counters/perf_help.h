/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One state of the perf backend, for tests. */
#ifndef TESTS_COUNTERS_PERF_HELP_H
#define TESTS_COUNTERS_PERF_HELP_H
#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/backend/counter.h"
#include "tests/tap.h"

struct perf_test {
	const struct counter_backend *backend;
	void *state;
};

static const struct counter_site here = {.threads = 1};

__attribute__((unused)) static struct perf_test perf_test_new(void) {
	struct perf_test test = {.backend = counter_find("perf")};
	size_t size = (test.backend->state_size + 63) / 64 * 64;
	test.state = aligned_alloc(64, size);
	memset(test.state, 0, size);
	return test;
}

__attribute__((unused)) static void perf_test_free(struct perf_test *test) {
	test->backend->close(test->state);
	free(test->state);
}

__attribute__((unused)) static int files_open(void) {
	DIR *dir = opendir("/proc/self/fd");
	int count = -3; /* two names for folders, and what reads them */
	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Causes this many page faults. A sanitizer's shadow memory would be touched as well, and counted. */
__attribute__((unused, no_sanitize("thread"), no_sanitize("address"))) static void pages_touch(size_t count) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise((void *)memory, count * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < count; i++)
		memory[i * page] = 1;
	munmap((void *)memory, count * page);
}

#endif
