/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Software-defined events through PAPI: counts that a kernel's threads add to memory freed after each trial, and
 * events that a library exports itself. */
#include <omp.h>
#include <papi.h>
#include <sde_lib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/backend/counter.h"
#include "tests/tap.h"

enum { TEAM = 3, EVENTS = 2, STRIDE = 16, TRIALS = 200 };
static const char *const names[EVENTS] = {"apples", "pears"};

static const struct counter_backend *sde(void) {
	return counter_find("papi-sde");
}

static void *state_new(void) {
	size_t size = (sde()->state_size + 63) / 64 * 64;
	void *state = aligned_alloc(64, size);
	memset(state, 0, size);
	return state;
}

static void state_free(void *state) {
	sde()->close(state);
	free(state);
}

static struct counter_software software_new(const char *owner, int threads) {
	return (struct counter_software){.owner = owner,
	                                 .count = EVENTS,
	                                 .stride = STRIDE,
	                                 .names = names,
	                                 .threads = threads,
	                                 .values = calloc((size_t)threads * STRIDE, sizeof(int64_t))};
}

static int64_t amount(int thread, int event, int trial) {
	return (int64_t)(thread + 1) * 1000003 + event * 17 + trial;
}

static bool values_good(const struct counter_value *values, int thread, int trial) {
	bool good = true;
	for (int e = 0; e < EVENTS; e++)
		good = good && values[e].status == COUNTER_COUNTED && !values[e].shared &&
		       values[e].value == (double)amount(thread, e, trial) && strcmp(values[e].name, names[e]) == 0;
	return good;
}

static bool thread_trial(const struct counter_software *software, int thread, int trial) {
	const struct counter_site site = {.thread = thread, .threads = TEAM, .software = software};
	struct counter_value values[EVENTS];
	void *state = state_new();
	bool good = sde()->open(state, &site, names, EVENTS) == 0 && sde()->start(state) == 0;
	for (int e = 0; e < EVENTS; e++)
		software->values[thread * STRIDE + e] += amount(thread, e, trial);
	good = good && sde()->stop(state) == 0 && sde()->read(state, values) == 0 && values_good(values, thread, trial);
	state_free(state);
	return good;
}

static int listed_count(void) {
	int code = (int)PAPI_NATIVE_MASK, count = 0, component = PAPI_get_component_index("sde");
	for (int rc = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component); rc == PAPI_OK; count++)
		rc = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component);
	return count;
}

/* Memory is freed after each: a stale pointer is seen by a sanitizer or valgrind. */
static void check_trials(void) {
	static const char *const owners[] = {"orchard", "garden"};
	int good = 0, before = 0;
	for (int trial = 0; trial < TRIALS; trial++) {
		const struct counter_software software = software_new(owners[trial % 2], TEAM);
#pragma omp parallel num_threads(TEAM) reduction(+ : good)
		good += thread_trial(&software, omp_get_thread_num(), trial);
		free(software.values);
		if (trial == 1)
			before = listed_count();
	}
	ok(good == TRIALS * TEAM, "%d trials of two kernels: exact in each thread", TRIALS);
	ok(before > 0 && listed_count() == before, "libsde has the %d events that it had after the first", before);
}

static bool outside_read(int set, long long *value) {
	return PAPI_read(set, value) == PAPI_OK;
}

/* An event that a kernel sets to unknown is not a count, whichever way it is read; the others are. */
static void check_unknown(const char *backend) {
	const struct counter_backend *by = counter_find(backend);
	const struct counter_software software = software_new("orchard", 1);
	const struct counter_site site = {.threads = 1, .software = &software};
	struct counter_value values[EVENTS];
	void *state = aligned_alloc(64, (by->state_size + 63) / 64 * 64);
	memset(state, 0, (by->state_size + 63) / 64 * 64);
	bool good = by->open(state, &site, names, EVENTS) == 0 && by->start(state) == 0;
	software.values[0] = COUNTER_SOFTWARE_UNKNOWN;
	software.values[1] = 3;
	good = good && by->stop(state) == 0 && by->read(state, values) == 0;
	by->close(state);
	ok(good && values[0].status == COUNTER_UNAVAILABLE && values[0].reason[0] && values[1].value == 3,
	   "%s: an event that the kernel does not know is unavailable: %s", backend, good ? values[0].reason : "");
	free(state);
	free(software.values);
}

/* Somebody else's event set sees the kernel's event, too: the sum over threads, and nothing once it is closed. */
static void check_seen(void) {
	const struct counter_software software = software_new("orchard", 2);
	const struct counter_site sites[] = {{.threads = 2, .software = &software},
	                                     {.thread = 1, .threads = 2, .software = &software}};
	void *states[] = {state_new(), state_new()};
	long long sum = -1, after = -1;
	int set = PAPI_NULL;
	bool good = sde()->open(states[0], &sites[0], names, 1) == 0 && sde()->open(states[1], &sites[1], names, 1) == 0;
	good =
		good && PAPI_create_eventset(&set) == PAPI_OK && PAPI_add_named_event(set, "sde:::orchard::apples") == PAPI_OK;
	good = good && PAPI_start(set) == PAPI_OK;
	software.values[0] = 40;
	software.values[STRIDE] = 2;
	good = good && outside_read(set, &sum);
	state_free(states[0]);
	state_free(states[1]);
	free(software.values);
	good = good && outside_read(set, &after) && PAPI_stop(set, &after) == PAPI_OK;
	ok(good && sum == 42, "PAPI sees sde:::orchard::apples (%lld)", sum);
	ok(after == 0, "PAPI sees nothing where no memory is (%lld)", after);
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
}

/* An event that another PAPI user has asked for before anybody exports it. */
static void check_promised(void) {
	static const char *const name = "laterlib::later";
	const struct counter_site site = {.threads = 1};
	struct counter_value value = {.status = COUNTER_COUNTED};
	void *state = state_new();
	int code;
	PAPI_event_name_to_code("sde:::laterlib::later", &code);
	bool good = sde()->open(state, &site, &name, 1) != 0;
	good = good || (sde()->start(state) == 0 && sde()->stop(state) == 0 && sde()->read(state, &value) == 0);
	ok(good && value.status == COUNTER_UNAVAILABLE && value.reason[0], "%s: %s", name, value.reason);
	state_free(state);
}

/* A library's own event is one for all threads: told once. */
static void check_library(void) {
	static const char *const asked[] = {"fruitlib::kernels", "sde:::fruitlib::level"};
	static long long kernels = 7, level = 5;
	papi_handle_t handle = papi_sde_init("fruitlib");
	struct counter_value values[2][2];
	char reason[COUNTER_REASON];
	const struct counter_site sites[] = {{.threads = 2}, {.thread = 1, .threads = 2}};
	void *states[] = {state_new(), state_new()};
	ok(!sde()->can("fruitlib::kernels", &sites[0], reason) && reason[0],
	   "an event that is not exported yet is unavailable: %s", reason);
	papi_sde_register_counter(handle, "kernels", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &kernels);
	papi_sde_register_counter(handle, "level", PAPI_SDE_RO | PAPI_SDE_INSTANT, PAPI_SDE_long_long, &level);
	ok(sde()->can(asked[0], &sites[0], reason) && sde()->can(asked[1], &sites[0], reason), "a library exports its own");
	bool good = true;
	for (int t = 0; t < 2; t++)
		good = good && sde()->open(states[t], &sites[t], asked, 2) == 0;
	good = good && sde()->start(states[0]) == 0;
	kernels += 11;
	level += 13;
	good = good && sde()->stop(states[0]) == 0;
	for (int t = 0; t < 2; t++)
		good = good && sde()->read(states[t], values[t]) == 0;
	ok(good && values[0][0].shared && values[0][0].value == 11 && values[0][1].value == 13,
	   "one value for all threads, from start to stop (%g, %g)", values[0][0].value, values[0][1].value);
	ok(good && values[1][0].status == COUNTER_UNAVAILABLE, "a library's event is not given to a second thread: %s",
	   values[1][0].reason);
	state_free(states[0]);
	state_free(states[1]);
}

static void check_hostile(void) {
	static char longest[3000];
	const struct counter_software software = software_new("orchard", 1);
	const char *const words[] = {"",     "::",   "orchard::", "orchard::apples::", "sde:::", "sde:::orchard::none",
	                             "%s%n", longest};
	const struct counter_site site = {.threads = 1, .software = &software};
	struct counter_software unallocated = software;
	const struct counter_site empty = {.threads = 1, .software = &unallocated},
							  beyond = {.thread = 5, .threads = 6, .software = &software};
	char reason[COUNTER_REASON];
	int before = listed_count();
	memset(longest, ':', sizeof longest - 1);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		void *state = state_new();
		reason[0] = '\0';
		ok(!sde()->can(words[i], &site, reason) && reason[0] && sde()->open(state, &site, &words[i], 1) != 0,
		   "refused: \"%.40s\"", words[i]);
		state_free(state);
	}
	const struct counter_site other = {.threads = 1};
	ok(!sde()->can("orchard::apples", &other, reason) && !sde()->can("sde:::orchard::apples@0", &other, reason),
	   "another kernel's event is not this one's: %s", reason);
	ok(!counter_find("papi")->can("sde:::orchard::later", &other, reason), "%s", reason);
	ok(listed_count() == before, "libsde keeps no more events for refused words");
	unallocated.values = NULL;
	void *states[] = {state_new(), state_new()};
	ok(sde()->open(states[0], &empty, names, 1) != 0 && sde()->open(states[1], &beyond, names, 1) != 0,
	   "an event without memory to count in is refused");
	state_free(states[0]);
	state_free(states[1]);
	free(software.values);
}

int main(void) {
	struct counter_probe probe;
	sde()->probe(&probe);
	ok(probe.reason[0], "%s: %s", probe.usable ? "usable" : "not usable", probe.reason);
	if (probe.usable) {
		check_trials();
		check_unknown("papi-sde");
		check_unknown("kernel");
		check_seen();
		check_promised();
		check_library();
		check_hostile();
	} else {
		tap_skip("software-defined events", probe.reason);
	}
	return tap_done();
}
