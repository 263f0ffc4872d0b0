/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conformance of every counter backend: requirements on a probe, an event and a thread's values. The work of a
 * thread is known (pages touched, sleeps, CPU time by the thread's own clock), so the kernel's counters have lower
 * bounds. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/backend/counter.h"
#include "tests/tap.h"

enum { TEAM = 3, EVENTS_MAX = 64, PAGES = 2000, SLEEPS = 20 };
#define CPU_SECONDS 0.02

struct counted {
	bool good; /* every call returned 0 */
	struct counter_value work[EVENTS_MAX], idle[EVENTS_MAX];
};

static double cpu_seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A sanitizer's shadow memory would be touched as well, and counted. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static void work(int amount) {
	long page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)page * (size_t)(PAGES * amount);
	double until;
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	madvise((void *)memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += (size_t)page)
		memory[i] = 1;
	munmap((void *)memory, size);
	for (int i = 0; i < SLEEPS * amount; i++)
		nanosleep(&(struct timespec){0, 200000}, NULL);
	for (until = cpu_seconds() + CPU_SECONDS * amount; cpu_seconds() < until;)
		;
}

static void thread_count(const struct counter_backend *backend, int amount, struct counted *out) {
	void *state = aligned_alloc(64, (backend->state_size + 63) / 64 * 64);
	memset(state, 0, backend->state_size);
	const struct counter_site site = {.thread = 0, .threads = 1};
	out->good = backend->open(state, &site, backend->events, counter_event_count(backend)) == 0;
	out->good = out->good && backend->start(state) == 0;
	work(amount);
	out->good = out->good && backend->stop(state) == 0 && backend->read(state, out->work) == 0;
	out->good =
		out->good && backend->start(state) == 0 && backend->stop(state) == 0 && backend->read(state, out->idle) == 0;
	backend->close(state);
	free(state);
}

/* Least value of the event for this amount of work; 0 where nothing can be promised. */
static double least(const char *event, int amount) {
	if (strcmp(event, "minor-faults") == 0 || strcmp(event, "page-faults") == 0)
		return PAGES * amount;
	if (strcmp(event, "voluntary-switches") == 0 || strcmp(event, "context-switches") == 0)
		return SLEEPS * amount;
	return strcmp(event, "task-clock") == 0 || strcmp(event, "cpu-time") == 0 ? 0.9 * CPU_SECONDS * amount : 0;
}

static bool value_good(const struct counter_value *value, const char *event, double bound) {
	if (!value->name || strcmp(value->name, event) != 0 || !value->unit || !*value->unit)
		return false;
	if (value->status == COUNTER_UNAVAILABLE)
		return value->reason[0] && isnan(value->value);
	return isfinite(value->value) && value->value >= bound;
}

static void check_event(const char *event, const struct counted *team, int i) {
	bool good = true, fresh = true;
	for (int t = 0; t < TEAM; t++) {
		double bound = least(event, t + 1);
		good = good && value_good(&team[t].work[i], event, bound);
		fresh = fresh && value_good(&team[t].idle[i], event, 0);
		if (bound > 0 && team[t].idle[i].status != COUNTER_UNAVAILABLE)
			fresh = fresh && team[t].idle[i].value < bound;
		if (!good)
			printf("# thread %d: %g %s, at least %g: %s\n", t, team[t].work[i].value,
			       counter_status_name(team[t].work[i].status), bound, team[t].work[i].reason);
	}
	ok(good, "%s: at least the known work, or a reason", event);
	ok(fresh, "%s: counts from the last start", event);
}

static double value_of(const struct counter_backend *backend, const struct counted *counted, const char *event) {
	for (int i = 0; backend->events[i]; i++)
		if (strcmp(backend->events[i], event) == 0)
			return counted->work[i].value;
	return NAN;
}

/* Each thread has its own: a thread does not see another's page faults. */
static void check_separate(const struct counter_backend *backend, const struct counted *team) {
	static const char *const events[] = {"minor-faults", "page-faults"};
	for (size_t e = 0; e < sizeof events / sizeof *events; e++) {
		for (int t = 0; t < TEAM; t++) {
			double value = value_of(backend, &team[t], events[e]);
			if (!isnan(value))
				ok(value < PAGES * (t + 1) + PAGES / 2, "thread %d: its own %s only (%g)", t, events[e], value);
		}
	}
}

/* Software-defined events: each thread adds known numbers, and the backend must give exactly these. */
enum { OWN = 2, STRIDE = 16, RUNS = 3 };

static int64_t amount(int thread, int event, int run) {
	return 1 + thread + 10 * event + 100 * run;
}

static bool software_run(const struct counter_backend *backend, void *state, const struct counter_site *site, int run) {
	struct counter_value values[OWN];
	bool good = backend->start(state) == 0;
	for (int e = 0; e < OWN; e++)
		site->software->values[site->thread * STRIDE + e] += amount(site->thread, e, run);
	good = good && backend->stop(state) == 0 && backend->read(state, values) == 0;
	for (int e = 0; e < OWN; e++)
		good = good && value_good(&values[e], site->software->names[e], 0) && values[e].status == COUNTER_COUNTED &&
		       !values[e].shared && values[e].value == (double)amount(site->thread, e, run);
	return good;
}

static bool software_thread(const struct counter_backend *backend, const struct counter_site *site) {
	void *state = aligned_alloc(64, (backend->state_size + 63) / 64 * 64);
	memset(state, 0, backend->state_size);
	bool good = backend->open(state, site, site->software->names, site->software->count) == 0;
	for (int run = 0; run < RUNS && good; run++)
		good = software_run(backend, state, site, run);
	backend->close(state);
	free(state);
	return good;
}

static void check_software(const struct counter_backend *backend) {
	static const char *const names[] = {"apples", "pears"};
	int64_t values[TEAM * STRIDE] = {0};
	const struct counter_software software = {
		.owner = "orchard", .count = OWN, .stride = STRIDE, .names = names, .values = values, .threads = TEAM};
	const struct counter_site site = {.threads = TEAM, .software = &software}, none = {.threads = 1};
	char reason[COUNTER_REASON];
	int good = 0;
	ok(counter_can(backend, "apples", &site, reason) && counter_can(backend, "orchard::pears", &site, reason) &&
	       counter_can(backend, "sde:::orchard::pears", &site, reason),
	   "%s: can count the kernel's exports", backend->name);
	ok(!counter_can(backend, "plums", &site, reason) && strstr(reason, "plums"), "%s: and nothing else: %s",
	   backend->name, reason);
	ok(!counter_can(backend, "apples", &none, reason) && strstr(reason, "does not export"), "%s: %s", backend->name,
	   reason);
#pragma omp parallel num_threads(TEAM) reduction(+ : good)
	{
		const struct counter_site own = {.thread = omp_get_thread_num(), .threads = TEAM, .software = &software};
		good += software_thread(backend, &own);
	}
	ok(good == TEAM, "%s: each thread has its own events, exactly", backend->name);
}

static void check_backend(const struct counter_backend *backend) {
	static struct counted team[TEAM];
	int count = 0, threads = 0;
	bool good = true;
	memset(team, 0, sizeof team);
	while (backend->events[count])
		count++;
	if (backend->software) {
		check_software(backend);
		return;
	}
	if (!ok(count > 0 && count <= EVENTS_MAX, "%s: has events", backend->name))
		return;
#pragma omp parallel num_threads(TEAM)
	{
#pragma omp single
		threads = omp_get_num_threads();
		thread_count(backend, omp_get_thread_num() + 1, &team[omp_get_thread_num()]);
	}
	for (int t = 0; t < TEAM; t++)
		good = good && team[t].good;
	if (!ok(good && threads == TEAM, "%s: opens, starts, stops, reads and closes in every thread", backend->name))
		return;
	for (int i = 0; i < count; i++)
		check_event(backend->events[i], team, i);
	check_separate(backend, team);
}

static void check_probe(const struct counter_backend *backend) {
	struct counter_probe probe;
	memset(&probe, 'x', sizeof probe);
	backend->probe(&probe);
	ok(memchr(probe.reason, '\0', sizeof probe.reason) && memchr(probe.fix, '\0', sizeof probe.fix) && probe.reason[0],
	   "%s: %s (%s)", backend->name, probe.usable ? "usable" : "not usable", probe.reason);
	ok(counter_find(backend->name) == backend && backend->summary[0], "%s: is found by its name", backend->name);
	if (backend->scope == COUNTER_RERUN)
		tap_skip(backend->name, "it counts nothing in this process");
	else if (probe.usable)
		check_backend(backend);
	else
		tap_skip(backend->name, probe.reason);
}

static void check_cpu_time(void) {
	const struct counter_backend *rusage = counter_find("rusage");
	static struct counted one;
	thread_count(rusage, 1, &one);
	ok(value_of(rusage, &one, "cpu-time") >= 0.9 * CPU_SECONDS, "rusage: no CPU time of the thread is missed");
}

int main(void) {
	for (size_t i = 0; counter_registry[i]; i++)
		check_probe(counter_registry[i]);
	check_cpu_time();
	ok(!counter_find("nonsense") && !counter_find(""), "an unknown name finds nothing");
	for (int s = COUNTER_COUNTED; s <= COUNTER_UNAVAILABLE; s++)
		ok(counter_status_name((enum counter_status)s)[0], "status %s", counter_status_name((enum counter_status)s));
	return tap_done();
}
