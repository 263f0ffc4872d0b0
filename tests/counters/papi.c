/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PAPI through the backend: page faults of threads that touch a known number of pages. The kernel's own count of the
 * thread's faults, taken just inside and just outside of what PAPI counts, says what PAPI must give. */
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "counters/backend/counter.h"
#include "tests/tap.h"

enum { TEAM = 4, PAGES = 500, ROUNDS = 3, ENDING = 60, COSTS = 200 };
#define FAULTS "perf::PAGE-FAULTS"
#define CLOCK  "perf::TASK-CLOCK"

static const struct counter_backend *papi(void) {
	return counter_find("papi");
}

static const struct counter_site alone = {.threads = 1};

static void *state_new(void) {
	size_t size = (papi()->state_size + 63) / 64 * 64;
	void *state = aligned_alloc(64, size);
	memset(state, 0, size);
	return state;
}

static void state_free(void *state) {
	papi()->close(state);
	free(state);
}

static long faults(void) {
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

/* A sanitizer's shadow memory would be touched as well. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static void touch(volatile char *memory, int pages) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < (size_t)pages; i++)
		memory[i * page] = 1;
}

/* Counts the touching of `pages` new pages; true if PAPI agrees with the kernel. */
static bool touch_counted(void *state, int pages, struct counter_value *values, size_t which) {
	size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(memory, size, MADV_NOHUGEPAGE);
	long outside = faults();
	bool good = papi()->start(state) == 0;
	long inside = faults();
	touch(memory, pages);
	inside = faults() - inside;
	good = good && papi()->stop(state) == 0;
	outside = faults() - outside;
	munmap(memory, size);
	good = good && papi()->read(state, values) == 0 && values[which].status == COUNTER_COUNTED && !values[which].shared;
	good = good && values[which].value >= (double)inside && values[which].value <= (double)outside && inside >= pages;
	if (!good)
		printf("# %g faults, the kernel says %ld to %ld of %d pages: %s\n", values[which].value, inside, outside, pages,
		       values[which].reason);
	return good;
}

static bool thread_rounds(int thread) {
	static const char *const names[] = {FAULTS, CLOCK};
	const struct counter_site site = {.thread = thread, .threads = TEAM};
	struct counter_value values[2];
	void *state = state_new();
	bool good = papi()->open(state, &site, names, 2) == 0;
	for (int round = 0; round < ROUNDS && good; round++) {
		good = touch_counted(state, PAGES * (thread + 1) / (round + 1), values, 0);
		good = good && values[1].value > 0;
	}
	state_free(state);
	return good;
}

static void check_team(void) {
	int good = 0, threads = 0;
#pragma omp parallel num_threads(TEAM) reduction(+ : good, threads)
	{
		threads++;
		good += thread_rounds(omp_get_thread_num());
	}
	ok(good == threads, "each of %d threads has its own faults, from each start to its stop", threads);
}

/* A name that PAPI refuses must not move the values of the others. */
static void check_gap(void) {
	static const char *const names[] = {CLOCK, "PAPI_NO_SUCH_EVENT", FAULTS};
	struct counter_value values[3];
	void *state = state_new();
	ok(papi()->open(state, &alone, names, 3) == 0, "an event without a counter does not keep others from counting");
	ok(touch_counted(state, PAGES, values, 2), "the value after it is its own");
	ok(values[1].status == COUNTER_UNAVAILABLE && isnan(values[1].value) && values[1].reason[0],
	   "an event that PAPI refuses has no value: %s", values[1].reason);
	state_free(state);
}

/* PAPI takes no event twice: so these can't be counted together, and each can. */
static void check_too_many(void) {
	const char *names[COUNTER_OPEN_MAX];
	struct counter_value value;
	for (int i = 0; i < COUNTER_OPEN_MAX; i++)
		names[i] = FAULTS;
	void *state = state_new();
	ok(papi()->open(state, &alone, names, COUNTER_OPEN_MAX) != 0, "events that cannot be counted together are refused");
	papi()->close(state);
	memset(state, 0, papi()->state_size);
	ok(papi()->open(state, &alone, names, 1) == 0 && touch_counted(state, PAGES, &value, 0),
	   "an event counts alone after too many were refused");
	state_free(state);
}

/* PAPI counts one set in each thread: the second is refused, the first continues. */
static void check_nested(void) {
	static const char *const name = FAULTS;
	struct counter_value value;
	void *first = state_new(), *second = state_new();
	bool good = papi()->open(first, &alone, &name, 1) == 0 && papi()->open(second, &alone, &name, 1) == 0;
	ok(good && papi()->start(first) == 0 && papi()->start(second) != 0, "a second set does not start beside the first");
	state_free(second);
	ok(papi()->stop(first) == 0 && papi()->read(first, &value) == 0 && touch_counted(first, PAGES, &value, 0),
	   "the first continues");
	ok(papi()->start(first) == 0, "closing stops");
	state_free(first);
}

static void *thread_ending(void *ctx) {
	static const char *const name = FAULTS;
	struct counter_value value;
	void *state = state_new();
	*(bool *)ctx = papi()->open(state, &alone, &name, 1) == 0 && touch_counted(state, PAGES / 10, &value, 0);
	state_free(state);
	return NULL;
}

static void check_ending(void) {
	int good = 0;
	for (int i = 0; i < ENDING; i += 2) {
		pthread_t threads[2];
		bool counted[2] = {false, false};
		for (int t = 0; t < 2; t++)
			if (pthread_create(&threads[t], NULL, thread_ending, &counted[t]))
				exit(99);
		for (int t = 0; t < 2; t++)
			pthread_join(threads[t], NULL);
		good += counted[0] + counted[1];
	}
	ok(good == ENDING, "%d threads came, counted and ended", good);
}

/* PAPI 7.0.0 leaks its record of a name whose event exists and whose attributes do not, so none is here. */
static void check_names(void) {
	static char longest[5000];
	const char *const names[] = {"",
	                             ":",
	                             "::",
	                             ":::",
	                             "PAPI_",
	                             "PAPI_NO",
	                             "perf::",
	                             "perf::PAGE-FAULTS:",
	                             "sde:::",
	                             "%s%n",
	                             "nosuch:::event",
	                             "\xff\xfe",
	                             longest};
	char reason[COUNTER_REASON];
	memset(longest, 'P', sizeof longest - 1);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		memset(reason, 0, sizeof reason);
		bool can = papi()->can(names[i], &alone, reason);
		ok(!can && reason[0] && memchr(reason, '\0', sizeof reason), "refused: \"%.30s\"", names[i]);
	}
}

static void check_presets(void) {
	char reason[COUNTER_REASON];
	for (int i = 0; papi()->events[i]; i++) {
		reason[0] = '\0';
		bool can = counter_can(papi(), papi()->events[i], &alone, reason);
		ok(can || strlen(reason) > 10, "%s: %s", papi()->events[i], can ? "can be counted" : reason);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_cost(void) {
	static const char *const names[] = {FAULTS, CLOCK};
	void *state = state_new();
	bool good = papi()->open(state, &alone, names, 2) == 0;
	double begun = now();
	for (int i = 0; i < COSTS && good; i++)
		good = papi()->start(state) == 0 && papi()->stop(state) == 0;
	ok(good, "starts and stops, each %.1f us with 2 events", (now() - begun) / COSTS * 1e6);
	state_free(state);
}

static void check_counts(void) {
	char reason[COUNTER_REASON] = "";
	if (!counter_can(papi(), FAULTS, &alone, reason) || !counter_can(papi(), CLOCK, &alone, reason)) {
		tap_skip("counts", reason);
		return;
	}
	check_team();
	check_gap();
	check_too_many();
	check_nested();
	check_ending();
	check_team();
	print_cost();
}

int main(void) {
	struct counter_probe probe;
	double begun = now();
	papi()->probe(&probe);
	ok(probe.reason[0] && (probe.usable || !strstr(probe.reason, "built") || probe.fix[0]), "%s: %s; %s (%.1f ms)",
	   probe.usable ? "usable" : "not usable", probe.reason, probe.fix, (now() - begun) * 1e3);
	check_names();
	check_presets();
	check_counts();
	return tap_done();
}
