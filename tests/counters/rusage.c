/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time and its parts, for work of many lengths: a part is reported only if the kernel can know it, and the
 * reported parts add up to the whole. */
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/backend/counter.h"
#include "tests/tap.h"

enum { LENGTHS = 9 };
static const char *const names[] = {"cpu-time", "user-time", "system-time"};

static double cpu_seconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Half the steps are the kernel's if system is true. Returns the time used. */
static double work(double seconds, bool system) {
	double begun = cpu_seconds();
	volatile double x = 0;
	while (cpu_seconds() - begun < seconds) {
		for (int i = 0; i < 20000; i++)
			x = x + i;
		if (system)
			munmap(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0),
			       1 << 20);
	}
	return cpu_seconds() - begun;
}

static double tick(void) {
	struct timespec t;
	clock_getres(CLOCK_REALTIME_COARSE, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool part_good(const struct counter_value *value, double whole) {
	if (value->status == COUNTER_UNAVAILABLE)
		return isnan(value->value) && value->reason[0];
	return value->value >= 0 && value->value <= whole + 2 * tick();
}

static void check_length(const struct counter_backend *rusage, double seconds, bool system) {
	void *state = aligned_alloc(64, (rusage->state_size + 63) / 64 * 64);
	const struct counter_site site = {.threads = 1};
	struct counter_value values[3];
	memset(state, 0, rusage->state_size);
	bool good = rusage->open(state, &site, names, 3) == 0 && rusage->start(state) == 0;
	double used = work(seconds, system);
	good = good && rusage->stop(state) == 0 && rusage->read(state, values) == 0;
	rusage->close(state);
	free(state);
	if (!ok(good, "%g s of work are counted", seconds))
		return;
	double whole = values[0].value;
	ok(values[0].status == COUNTER_COUNTED && whole >= used, "cpu-time: %g s, at least the %g s used", whole, used);
	ok(part_good(&values[1], whole) && part_good(&values[2], whole),
	   "each part is not more than the whole, or has a reason");
	bool told = values[1].status != COUNTER_UNAVAILABLE;
	ok(told == (values[2].status != COUNTER_UNAVAILABLE), "both parts are reported, or neither");
	ok(told == (whole >= 25 * tick()), "both parts are reported if the kernel sampled 25 times (%s)",
	   told ? "told" : "not told");
	ok(!told || fabs(values[1].value + values[2].value - whole) <= 2 * tick(),
	   "parts that are reported make up the whole");
}

int main(void) {
	const struct counter_backend *rusage = counter_find("rusage");
	double seconds = tick() / 8;
	for (int i = 0; i < LENGTHS; i++, seconds *= 2)
		check_length(rusage, seconds, i % 2);
	check_length(rusage, 26 * tick(), false);
	return tap_done();
}
