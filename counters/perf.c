/* SPDX-License-Identifier: BSD-3-Clause */
/* Software events of Linux perf. Where the kernel's side may not be seen (perf_event_paranoid 2), the kernel still
 * opens context-switches and cpu-migrations for the user's side and then silently counts 0, because both happen in the
 * kernel: they are unavailable then. */
#include <config.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "counters/counter.h"
#include "counters/perf_event.h"

enum { CLOCK, FAULTS, SWITCHES, MIGRATIONS, EVENTS };

#define UNPARANOID "sudo sysctl kernel.perf_event_paranoid=1"

static const char *const events[] = {"task-clock", "page-faults", "context-switches", "cpu-migrations", NULL};
static const __u64 configs[] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CONTEXT_SWITCHES,
                                PERF_COUNT_SW_CPU_MIGRATIONS};

struct perf_state {
	const char *const *names;
	size_t count;
	struct perf_event events[EVENTS];
};

static int perf_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct perf_state *s = state;
	(void)site;
	s->names = names;
	s->count = count;
	int opened = 0;
	for (int i = 0; i < EVENTS; i++)
		opened += perf_event_open(&s->events[i], PERF_TYPE_SOFTWARE, configs[i]) == 0;
	return opened ? 0 : -1;
}

static int perf_start(void *state) {
	struct perf_state *s = state;
	int rc = 0;
	for (int i = EVENTS - 1; i >= 0; i--)
		rc |= perf_event_start(&s->events[i]);
	return rc;
}

static int perf_stop(void *state) {
	struct perf_state *s = state;
	int rc = 0;
	for (int i = 0; i < EVENTS; i++)
		rc |= perf_event_stop(&s->events[i]);
	return rc;
}

static void value_fill(struct counter_value *value, const struct perf_event *event, int i) {
	const char *unit = i == CLOCK ? "s" : "count";
	double enabled = (double)(event->end.enabled - event->begin.enabled);
	double running = (double)(event->end.running - event->begin.running);
	double x = (double)(event->end.value - event->begin.value) * (i == CLOCK ? 1e-9 : 1);
	if (!event->file) {
		counter_value_miss(value, events[i], unit, "perf_event_open: %s", strerror(event->error));
	} else if (event->user_only && i >= SWITCHES) {
		counter_value_miss(value, events[i], unit,
		                   "happens in the kernel, which perf_event_paranoid hides: " UNPARANOID);
	} else if (!(running > 0)) {
		counter_value_miss(value, events[i], unit, "the kernel never scheduled this event");
	} else {
		counter_value_set(value, events[i], unit, x * enabled / running);
		value->status = running < enabled ? COUNTER_SCALED : COUNTER_COUNTED;
		if (event->user_only && i == FAULTS)
			snprintf(value->reason, sizeof value->reason, "faults of user code only");
	}
}

static int perf_read(void *state, struct counter_value *values) {
	const struct perf_state *s = state;
	for (size_t k = 0; k < s->count; k++)
		for (int i = 0; i < EVENTS; i++)
			if (strcmp(events[i], s->names[k]) == 0)
				value_fill(&values[k], &s->events[i], i);
	return 0;
}

static void perf_close(void *state) {
	struct perf_state *s = state;
	for (int i = 0; i < EVENTS; i++)
		perf_event_close(&s->events[i]);
}

/* An event that opens may still count nothing, so cycles are really counted. */
static void pmu_describe(char *text, size_t size) {
	struct perf_event cycles = {0};
	if (perf_event_open(&cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) == 0) {
		bool counts = perf_event_start(&cycles) == 0 && perf_event_stop(&cycles) == 0 &&
		              cycles.end.value > cycles.begin.value;
		snprintf(text, size, counts ? "; a hardware PMU is there" : " only: the hardware PMU counts nothing");
	} else if (cycles.error == ENOENT || cycles.error == EOPNOTSUPP) {
		snprintf(text, size, " only: no hardware PMU, as in most virtual machines (%s)",
		         cycles.error == ENOENT ? "ENOENT" : "EOPNOTSUPP");
	} else {
		snprintf(text, size, " only: no hardware events (%s)", strerror(cycles.error));
	}
	perf_event_close(&cycles);
}

static void perf_probe(struct counter_probe *probe) {
	struct perf_event clock = {0};
	char pmu[100];
	*probe = (struct counter_probe){.usable = perf_event_open(&clock, PERF_TYPE_SOFTWARE, configs[CLOCK]) == 0};
	if (probe->usable) {
		pmu_describe(pmu, sizeof pmu);
		snprintf(probe->reason, sizeof probe->reason, "software events%s%s", pmu,
		         clock.user_only ? "; no context switches and migrations at this perf_event_paranoid" : "");
	} else {
		snprintf(probe->reason, sizeof probe->reason, "perf_event_open: %s", strerror(clock.error));
	}
	if (clock.user_only)
		snprintf(probe->fix, sizeof probe->fix, UNPARANOID "%s",
		         probe->usable ? "" : "; in a container, also one that allows perf_event_open (--cap-add=PERFMON)");
	perf_event_close(&clock);
}

const struct counter_backend counter_perf = {
	.name = "perf",
	.summary = "software events of Linux perf, each thread its own",
	.state_size = sizeof(struct perf_state),
	.events = events,
	.probe = perf_probe,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.read = perf_read,
	.close = perf_close,
};
