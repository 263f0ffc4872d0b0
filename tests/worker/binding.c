/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams that are really bound, checked with sched_getaffinity, which knows nothing of hwloc. */
#include <omp.h>
#include <sched.h>
#include <stdlib.h>

#include "topo/topo.h"
#include "tests/tap.h"

enum { TEAM_MAX = 8 };

static const char *const places[] = {TOPO_PLACES};
static const char *const binds[] = {TOPO_BINDS};

struct seen {
	bool applied, holds;
	int cpu;
	cpu_set_t mask;
	struct err err;
};

/* "[0-1,4]", or "[*]" for all of `all`. */
static void mask_text(const cpu_set_t *mask, const cpu_set_t *all, char *text, size_t size) {
	size_t used = 1;
	snprintf(text, size, CPU_EQUAL(mask, all) ? "[*]" : "[");
	for (int from = 0, to; !CPU_EQUAL(mask, all) && from < CPU_SETSIZE; from = to + 1) {
		for (to = from; to < CPU_SETSIZE && CPU_ISSET(to, mask); to++)
			;
		if (to > from && used + 24 < size)
			used += (size_t)snprintf(text + used, size - used, to - from > 1 ? "%s%d-%d" : "%s%d", used > 1 ? "," : "",
			                         from, to - 1);
	}
	if (!CPU_EQUAL(mask, all))
		snprintf(text + used, size - used, "]");
}

/* The key that the masks of the team would have. */
static void team_text(const struct seen *seen, int threads, const cpu_set_t *all, char *text, size_t size) {
	text[0] = '\0';
	for (int i = 0, run; i < threads; i += run) {
		char one[256];
		size_t used = strlen(text);
		for (run = 1; i + run < threads && CPU_EQUAL(&seen[i].mask, &seen[i + run].mask); run++)
			;
		mask_text(&seen[i].mask, all, one, sizeof one);
		snprintf(text + used, size - used, run > 1 ? "%sx%d" : "%s", one, run);
	}
}

static int team_run(const struct topo *topo, const struct topo_binding *binding, int threads, struct seen *seen) {
	int count = 0;
#pragma omp parallel num_threads(threads)
	{
		int me = omp_get_thread_num();
		struct seen *mine = &seen[me];
		*mine = (struct seen){0};
#pragma omp single
		count = omp_get_num_threads();
		mine->applied = topo_binding_apply(topo, binding, me, &mine->err) == 0;
#pragma omp barrier
		mine->holds = topo_binding_holds(topo, binding, me, &mine->cpu);
		sched_getaffinity(0, sizeof mine->mask, &mine->mask);
	}
	return count;
}

static bool team_good(const struct seen *seen, int threads) {
	for (int i = 0; i < threads; i++) {
		if (!seen[i].applied || !seen[i].holds || seen[i].cpu < 0 || !CPU_ISSET(seen[i].cpu, &seen[i].mask)) {
			printf("# thread %d: cpu %d, holds %d: %s\n", i, seen[i].cpu, seen[i].holds, seen[i].err.what);
			return false;
		}
	}
	return true;
}

static void check(const struct topo *topo, int threads, const char *where, const char *how, const cpu_set_t *all) {
	struct err err = {0};
	struct topo_binding *binding = topo_binding_new(topo, threads, where, how, &err);
	struct seen seen[TEAM_MAX] = {0};
	char text[1024];
	if (!ok(binding != NULL, "%d threads, %s, %s: %s", threads, where, how, err.what))
		return;
	ok(team_run(topo, binding, threads, seen) == threads && team_good(seen, threads),
	   "%d threads, %s, %s: bound, and there", threads, where, how);
	team_text(seen, threads, all, text, sizeof text);
	is_text(topo_binding_key(binding), (const char *)text, "the key is the set that the threads may use");
	topo_binding_free(binding);
}

static void check_all(const struct topo *topo, const cpu_set_t *all) {
	static const int teams[] = {1, 2, 3, TEAM_MAX};
	for (size_t t = 0; t < sizeof teams / sizeof *teams; t++)
		for (size_t p = 0; p < sizeof places / sizeof *places; p++)
			for (size_t b = 0; b < sizeof binds / sizeof *binds; b++)
				check(topo, teams[t], places[p], binds[b], all);
	check(topo, TEAM_MAX, "threads", "primary", all);
	check(topo, TEAM_MAX, "threads", "false", all);
}

static int first_of(const cpu_set_t *all, int from) {
	while (from < CPU_SETSIZE && !CPU_ISSET(from, all))
		from++;
	return from;
}

/* Someone moves a bound thread elsewhere: holds must notice. */
static void test_moved(const struct topo *topo, const cpu_set_t *all) {
	struct err err = {0};
	struct topo_binding *binding = topo_binding_new(topo, 1, "threads", "close", &err);
	cpu_set_t other;
	int first = first_of(all, 0), second = first_of(all, first + 1), cpu = -1;
	CPU_ZERO(&other);
	CPU_SET(second, &other);
	ok(topo_binding_apply(topo, binding, 0, &err) == 0 && topo_binding_holds(topo, binding, 0, &cpu) && cpu == first,
	   "bound to CPU %d", first);
	sched_setaffinity(0, sizeof other, &other);
	ok(!topo_binding_holds(topo, binding, 0, &cpu) && cpu == second, "moved to CPU %d: noticed", second);
	ok(topo_binding_apply(topo, binding, 1, &err) != 0 && topo_binding_apply(topo, binding, -1, &err) != 0,
	   "a thread outside the team is refused");
	topo_binding_free(binding);
	sched_setaffinity(0, sizeof *all, all);
}

/* A process that may use one CPU sees a machine of one CPU, and every binding there counts as none. */
static void test_restricted(const cpu_set_t *all) {
	struct err err = {0};
	struct topo *topo;
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(first_of(all, 0), &one);
	sched_setaffinity(0, sizeof one, &one);
	topo = topo_open(NULL, &err);
	ok(topo && topo_count(topo, TOPO_PU) == 1 && topo_is_here(topo), "restricted to one CPU: %s", err.what);
	if (topo)
		check(topo, 1, "threads", "close", &one);
	topo_close(topo);
	sched_setaffinity(0, sizeof *all, all);
}

int main(void) {
	struct err err = {0};
	struct topo *topo;
	cpu_set_t all;
	if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) {
		tap_skip("binding", "this process may use one CPU only");
		return tap_done();
	}
	omp_set_dynamic(0);
	test_restricted(&all);
	topo = topo_open(NULL, &err);
	if (!ok(topo && topo_is_here(topo), "this machine opens: %s", err.what))
		return tap_done();
	ok(topo_count(topo, TOPO_PU) == CPU_COUNT(&all), "this machine has the CPUs that this process may use");
	check_all(topo, &all);
	test_moved(topo, &all);
	topo_close(topo);
	return tap_done();
}
