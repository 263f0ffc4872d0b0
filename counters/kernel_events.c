/* SPDX-License-Identifier: BSD-3-Clause */
/* Software-defined events, read from the kernel's memory: the same counts as papi-sde's, without PAPI. */
#include <stdio.h>

#include "counters/backend/counter.h"

struct kernel_state {
	const char *const *names;
	size_t count;
	const int64_t *counts; /* this thread's */
	size_t events[COUNTER_OPEN_MAX];
	int64_t begin[COUNTER_OPEN_MAX], end[COUNTER_OPEN_MAX];
};

static const char *const events[] = {NULL}; /* each kernel has its own */

static void kernel_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = true,
	                                .reason = "events that kernels count themselves, read from their memory"};
}

static bool kernel_can(const char *event, const struct counter_site *site, char reason[COUNTER_REASON]) {
	return software_event(site->software, event, reason) >= 0;
}

static int kernel_open(void *state, const struct counter_site *site, const char *const *names, size_t count) {
	struct kernel_state *s = state;
	char reason[COUNTER_REASON];
	s->names = names;
	s->count = count;
	for (size_t i = 0; i < count; i++) {
		int event = software_event(site->software, names[i], reason);
		if (event < 0)
			return -1;
		s->events[i] = (size_t)event;
	}
	s->counts = software_counts(site->software, site->thread);
	return s->counts ? 0 : -1;
}

static void counts_copy(const struct kernel_state *s, int64_t *to) {
	for (size_t i = 0; i < s->count; i++)
		to[i] = s->counts[s->events[i]];
}

static int kernel_start(void *state) {
	struct kernel_state *s = state;
	counts_copy(s, s->begin);
	return 0;
}

static int kernel_stop(void *state) {
	struct kernel_state *s = state;
	counts_copy(s, s->end);
	return 0;
}

static int kernel_read(void *state, struct counter_value *values) {
	const struct kernel_state *s = state;
	for (size_t i = 0; i < s->count; i++)
		software_value(&values[i], s->names[i], s->begin[i], s->end[i]);
	return 0;
}

static void kernel_close(void *state) {
	(void)state;
}

const struct counter_backend counter_kernel_events = {
	.name = "kernel",
	.summary = "software-defined events of the kernel, read directly",
	.software = true,
	.state_size = sizeof(struct kernel_state),
	.events = events,
	.probe = kernel_probe,
	.can = kernel_can,
	.open = kernel_open,
	.start = kernel_start,
	.stop = kernel_stop,
	.read = kernel_read,
	.close = kernel_close,
};
