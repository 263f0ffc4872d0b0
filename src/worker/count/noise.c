/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/noise.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "src/base/sys.h"

/* Nanoseconds: the second number of schedstat (Documentation/scheduler/sched-stats.rst). */
static void delay_add(void *ctx, int thread) {
	uint64_t *total = ctx;
	char line[128];
	unsigned long long delay;
	(void)thread;
	if (sys_read_line("/proc/thread-self/schedstat", line, sizeof line) && sscanf(line, "%*u %llu", &delay) == 1) {
		__atomic_fetch_add(total, delay, __ATOMIC_RELAXED);
	}
}

/* Steal is the eighth number of the first line, in clock ticks (proc(5)). The kernel formats the whole file for one
 * line, which costs milliseconds on large machines, so only virtual machines, where steal exists, read it. */
double noise_steal(void) {
	char line[256];
	unsigned long long steal;
	if (!sys_read_line("/proc/stat", line, sizeof line) ||
	    sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1) {
		return 0;
	}
	return (double)steal / (double)sysconf(_SC_CLK_TCK);
}

void noise_read(const struct team *team, struct noise *noise) {
	struct rusage usage;
	uint64_t delay = 0;
	*noise = (struct noise){.steal_s = team_is_virtual(team) ? noise_steal() : 0};
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		noise->involuntary = usage.ru_nivcsw;
	}
	team_each(team, delay_add, &delay);
	noise->run_delay_s = (double)delay * 1e-9;
}

struct noise noise_since(const struct noise *earlier, const struct noise *later) {
	return (struct noise){
		.involuntary = later->involuntary - earlier->involuntary,
		.run_delay_s = later->run_delay_s - earlier->run_delay_s,
		.steal_s = later->steal_s - earlier->steal_s,
	};
}
