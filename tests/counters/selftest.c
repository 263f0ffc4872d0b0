/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Self-tests of events that open: what counts is believed, what stays at 0 is not, and neither is asked twice. The
 * backends are made here; the loop and the cache are the real ones. */
#include "counters/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counters/backend/counter.h"
#include "counters/plan/plan.h"
#include "base/sys.h"
#include "tests/tap.h"

static int opened; /* of any of these backends */

struct state {
	const char *event;
	double begin, end;
};

static void usable(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = true, .reason = "made for a test"};
}

static int state_open(void *opaque, const struct counter_site *site, const char *const *events, size_t count) {
	struct state *state = opaque;
	(void)site;
	state->event = events[0];
	opened++;
	return count == 1 && strcmp(events[0], "shut") != 0 ? 0 : -1;
}

/* "true" counts CPU time in ns, "twice" more than there is, "zero" nothing. */
static double now(const struct state *state) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	double ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	return strcmp(state->event, "true") == 0 ? ns : strcmp(state->event, "twice") == 0 ? 3 * ns : 0;
}

static int state_start(void *opaque) {
	struct state *state = opaque;
	state->begin = now(state);
	return 0;
}

static int state_stop(void *opaque) {
	struct state *state = opaque;
	state->end = now(state);
	return 0;
}

static int state_read(void *opaque, struct counter_value *values) {
	const struct state *state = opaque;
	counter_value_set(values, state->event, "ns", state->end - state->begin);
	return 0;
}

static void state_close(void *opaque) {
	(void)opaque;
}

static const char *const events[] = {"true", "twice", "zero", "shut", NULL};
static const struct counter_backend made = {
	.name = "made",
	.summary = "for this test",
	.state_size = sizeof(struct state),
	.events = events,
	.probe = usable,
	.open = state_open,
	.start = state_start,
	.stop = state_stop,
	.read = state_read,
	.close = state_close,
};

static bool good(const char *event, const char *word, char reason[COUNTER_REASON]) {
	const struct counter_site site = {.threads = 1};
	struct counter_loop loop = {.word = NULL};
	if (word && !counter_loop_find(word, "", &loop))
		return false;
	struct counter_selftest *selftest = counter_selftest_new();
	bool result = counter_selftest_good(selftest, &made, event, &site, &loop, reason);
	counter_selftest_free(selftest);
	return result;
}

static void check_verdicts(void) {
	char reason[COUNTER_REASON];
	ok(good("true", "nanoseconds", reason), "an event that counts the loop is believed");
	ok(!good("zero", "nanoseconds", reason) && strstr(reason, "at least"), "an event that stays at 0 is not: %s",
	   reason);
	ok(!good("twice", "nanoseconds", reason) && strstr(reason, "at most"),
	   "an event that counts more than the loop causes is not: %s", reason);
	struct counter_backend shared = made;
	struct counter_loop loop;
	shared.scope = COUNTER_MACHINE;
	ok(counter_loop_find("lines", "", &loop) && counter_selftest_believes(1e9, &loop, &shared, "true", reason) &&
	       !counter_selftest_believes(0, &loop, &shared, "true", reason),
	   "other programs may add to an event of the whole machine: %s", reason);
	ok(good("zero", NULL, reason), "an event that stays at 0 is believed where 0 may be true");
	ok(!good("shut", "nanoseconds", reason) && reason[0], "one that can't be counted: %s", reason);
	ok(!good("nosuch", NULL, reason) && strstr(reason, "nosuch"), "one that the backend does not have: %s", reason);
}

static void check_cache(const char *file) {
	char reason[COUNTER_REASON];
	int before = opened;
	ok(good("true", "nanoseconds", reason) && !good("zero", "nanoseconds", reason) && opened == before,
	   "a known result is not measured again");
	FILE *out = fopen(file, "w");
	ok(out && fputs("{\"key\": \"another machine\", \"seen\": {\"made:zero nanoseconds\": 6e6}}", out) >= 0 &&
	       fclose(out) == 0,
	   "another machine's cache");
	ok(!good("zero", "nanoseconds", reason) && opened == before + 1, "another machine's cache is not believed");
	for (size_t size = 0; size < 40; size += 13)
		ok(truncate(file, (off_t)size) == 0 && good("true", "nanoseconds", reason), "a cache of %zu bytes does no harm",
		   size);
	ok(chmod(file, 0600) == 0 && unlink(file) == 0 && mkdir(file, 0700) == 0 && good("true", "nanoseconds", reason),
	   "a cache that can't be written does no harm");
	rmdir(file);
}

/* An interval without work costs little, and counts next to nothing. */
static void check_proof(void) {
	const struct counter_site site = {.threads = 1};
	struct counter_loop loop;
	struct counter_proof proof;
	bool counted =
		counter_loop_find("nanoseconds", "ns", &loop) && counter_selftest_count(&made, "true", &site, &loop, &proof);
	ok(counted && proof.counted > 100 * proof.empty && proof.empty > 0 && proof.seconds > 0,
	   "an empty interval counts %g of %g", proof.empty, proof.counted);
	ok(!counter_selftest_count(&made, "shut", &site, &loop, &proof) && isnan(proof.counted),
	   "an event that does not open has no count");
}

/* The loops cause what they promise, by counts that need no PMU. */
static void check_known_work(void) {
	static const char *const known[][2] = {{"faults", "perf:page-faults"},
	                                       {"faults", "rusage:minor-faults"},
	                                       {"switches", "rusage:voluntary-switches"},
	                                       {"nanoseconds", "perf:task-clock"}};
	const struct counter_site site = {.threads = 1};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		char name[16], reason[COUNTER_REASON];
		struct counter_loop loop;
		struct counter_proof proof;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(known[i][1], ":"), known[i][1]);
		const char *event = strchr(known[i][1], ':') + 1;
		const struct counter_backend *backend = counter_find(name);
		if (!counter_loop_find(known[i][0], "ns", &loop) || !counter_can(backend, event, &site, reason))
			continue;
		double scale = strcmp(known[i][0], "nanoseconds") == 0 ? 1e9 : 1;
		bool counted = counter_selftest_count(backend, event, &site, &loop, &proof);
		ok(counted && counter_selftest_believes(scale * proof.counted, &loop, backend, event, reason),
		   "%s counts %g of the loop's %g to %g", known[i][1], scale * proof.counted, loop.least, loop.most);
	}
}

static void cpu_check(const char *folder, const char *text, const char *expected) {
	char path[512], cpu[64];
	snprintf(path, sizeof path, "%s/cpuinfo", folder);
	FILE *out = fopen(path, "w");
	bool wrote = out && fputs(text, out) >= 0 && fclose(out) == 0;
	ok(wrote && strcmp(counter_cpu_of(path, cpu, sizeof cpu), expected) == 0, "cpu \"%s\"", cpu);
}

static void check_cpu(const char *folder) {
	char cpu[64];
	cpu_check(folder,
	          "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: x\n\n"
	          "processor\t: 1\nvendor_id\t: Other\n",
	          "GenuineIntel-6-55");
	cpu_check(folder, "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n",
	          "AuthenticAMD-25-1");
	cpu_check(folder, "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n",
	          "arm-41-d0c");
	cpu_check(folder, "", "");
	cpu_check(folder, "model\nvendor_id\n::::\n", "");
	ok(strcmp(counter_cpu_of("/nowhere/cpuinfo", cpu, sizeof cpu), "") == 0, "no file");
}

/* For a simulator, which counts what counter_work_run does. */
static int work_once(const char *word) {
	struct counter_loop loop;
	struct counter_work *work = counter_loop_find(word, "", &loop) ? counter_work_new(word) : NULL;
	if (!work)
		return 2;
	counter_work_run(work);
	counter_work_free(work);
	return printf("%.0f %.0f\n", loop.least, loop.most) > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
	if (argc > 1)
		return work_once(argv[1]);
	char folder[] = "/tmp/sweetspot-selftest-XXXXXX", file[256], reason[COUNTER_REASON];
	struct counter_loop loop;
	if (!mkdtemp(folder))
		return 99;
	snprintf(file, sizeof file, "%s/sweetspot/counters.json", folder);
	setenv("XDG_CACHE_HOME", folder, 1);
	check_verdicts();
	check_cache(file);
	check_cpu(folder);
	check_proof();
	check_known_work();
	ok(!counter_loop_find("nonsense", "", &loop) && !counter_work_new("nonsense"),
	   "an unknown word does not have a loop");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ok(good("true", "nanoseconds", reason), "nothing needs a home");
	snprintf(file, sizeof file, "rm -rf %s", folder);
	return system(file) == 0 ? tap_done() : 99;
}
