/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the counts that the kernel keeps for every thread: getrusage(2), CPU time by the thread's own clock, and the
 * time that it waited for a CPU although it could have run, which is the second of three numbers in
 * /proc/PID/schedstat, in nanoseconds. For programs it reads the totals of them and their descendants after they were
 * waited for; these include the work of this process's copy before its exec. CPU time is exact but its division is not:
 * the kernel samples once a tick whether user or kernel code runs, and divides the exact time in that ratio (Linux,
 * kernel/sched/cputime.c, cputime_adjust). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "counters/backend/counter.h"

enum { CPU, USER, SYSTEM, MINOR, MAJOR, VOLUNTARY, INVOLUNTARY, DELAY, EVENTS };
enum { LOOKS = 25 /* of the kernel; its division of less CPU time is meaningless */ };

#define NO_TREE_DELAY "the kernel does not keep the run delay of processes that have ended"

static const char *const events[] = {"cpu-time",
                                     "user-time",
                                     "system-time",
                                     "minor-faults",
                                     "major-faults",
                                     "voluntary-switches",
                                     "involuntary-switches",
                                     "run-delay",
                                     NULL};

struct rusage_state {
	const char *const *names;
	size_t count;
	bool tree;
	int file;     /* descriptor of the opening thread's schedstat, plus 1; 0: closed */
	int no_delay; /* errno: why run-delay is not counted */
	double begin[EVENTS], end[EVENTS];
};

static int delay_open(void) {
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC) + 1;
}

/* Returns 0 or errno. A kernel without these statistics says "0 0 0", but a thread that asks has run at least once. */
static int delay_read(int file, double *seconds) {
	unsigned long long wait, slices;
	char line[80];
	ssize_t got = file ? pread(file - 1, line, sizeof line - 1, 0) : -1;
	if (got < 0)
		return errno;
	line[got] = '\0';
	if (sscanf(line, "%*u %llu %llu", &wait, &slices) != 2 || slices == 0)
		return ENODATA;
	*seconds = (double)wait * 1e-9;
	return 0;
}

static double time_seconds(struct timeval t) {
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double spec_seconds(struct timespec t) {
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int take(struct rusage_state *s, double *x) {
	struct rusage u;
	struct timespec cpu;
	if (getrusage(s->tree ? RUSAGE_CHILDREN : RUSAGE_THREAD, &u) != 0 ||
	    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0)
		return -1;
	x[USER] = time_seconds(u.ru_utime);
	x[SYSTEM] = time_seconds(u.ru_stime);
	x[CPU] = s->tree ? x[USER] + x[SYSTEM] : spec_seconds(cpu);
	x[MINOR] = (double)u.ru_minflt;
	x[MAJOR] = (double)u.ru_majflt;
	x[VOLUNTARY] = (double)u.ru_nvcsw;
	x[INVOLUNTARY] = (double)u.ru_nivcsw;
	if (!s->tree && !s->no_delay)
		s->no_delay = delay_read(s->file, &x[DELAY]);
	return 0;
}

static void rusage_close(void *state) {
	struct rusage_state *s = state;
	if (s->file)
		close(s->file - 1);
	s->file = 0;
}

static int rusage_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct rusage_state *s = state;
	s->names = names;
	s->count = count;
	s->tree = site->tree;
	s->file = s->tree ? 0 : delay_open();
	s->no_delay = s->file || s->tree ? 0 : errno;
	return 0;
}

static int rusage_start(void *state) {
	struct rusage_state *s = state;
	return take(s, s->begin);
}

static int rusage_stop(void *state) {
	struct rusage_state *s = state;
	return take(s, s->end);
}

static int event_find(const char *name) {
	int i = 0;
	while (i < EVENTS && strcmp(events[i], name) != 0)
		i++;
	return i;
}

/* The coarse clock advances once a tick (clock_getres(2)). */
static double tick_seconds(void) {
	struct timespec tick;
	return clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0 ? spec_seconds(tick) : 0.01;
}

static void part_read(const struct rusage_state *s, int i, struct counter_value *value) {
	double cpu = s->end[CPU] - s->begin[CPU], tick = tick_seconds();
	if (cpu < LOOKS * tick) {
		counter_value_miss(value, events[i], "s",
		                   "the kernel samples once in %g ms whether CPU time is the user's or its own: "
		                   "%.3g ms are too short for that; cpu-time is exact",
		                   tick * 1e3, cpu * 1e3);
		return;
	}
	counter_value_set(value, events[i], "s", s->end[i] - s->begin[i]);
	snprintf(value->reason, sizeof value->reason, "divided by samples, one in %g ms", tick * 1e3);
}

static int rusage_read(void *state, struct counter_value *values) {
	const struct rusage_state *s = state;
	for (size_t k = 0; k < s->count; k++) {
		int i = event_find(s->names[k]);
		const char *unit = i == CPU || i == DELAY ? "s" : "count";
		if (i == EVENTS)
			return -1;
		if (i == USER || i == SYSTEM)
			part_read(s, i, &values[k]);
		else if (i == DELAY && s->tree)
			counter_value_miss(&values[k], events[i], unit, NO_TREE_DELAY);
		else if (i == DELAY && s->no_delay)
			counter_value_miss(&values[k], events[i], unit, "the kernel does not keep run delays: %s",
			                   strerror(s->no_delay));
		else
			counter_value_set(&values[k], events[i], unit, s->end[i] - s->begin[i]);
		if (s->tree && !values[k].reason[0])
			snprintf(values[k].reason, sizeof values[k].reason, "with the start of the process, before its exec");
	}
	return 0;
}

static void rusage_probe(struct counter_probe *probe) {
	struct rusage_state s = {0};
	rusage_open(&s, &(struct counter_site){.threads = 1}, NULL, 0);
	*probe = (struct counter_probe){.usable = take(&s, s.begin) == 0};
	snprintf(probe->reason, sizeof probe->reason, "%s%s",
	         probe->usable ? "CPU time, page faults, context switches" : strerror(errno),
	         s.no_delay ? "; without run delays" : ", run delays");
	if (s.no_delay)
		snprintf(probe->fix, sizeof probe->fix, "run delays need a kernel with CONFIG_SCHED_INFO and /proc mounted");
	rusage_close(&s);
}

static bool rusage_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	int i = event_find(event);
	if (i == EVENTS)
		snprintf(reason, COUNTER_REASON, "rusage does not have an event %.60s", event);
	else if (i == DELAY && site->tree)
		snprintf(reason, COUNTER_REASON, NO_TREE_DELAY);
	else
		return true;
	return false;
}

const struct counter_backend counter_rusage = {
	.name = "rusage",
	.summary = "CPU time, page faults, context switches and run delay from the kernel's accounting",
	.trees = true,
	.state_size = sizeof(struct rusage_state),
	.events = events,
	.probe = rusage_probe,
	.can = rusage_can,
	.open = rusage_open,
	.start = rusage_start,
	.stop = rusage_stop,
	.read = rusage_read,
	.close = rusage_close,
};
