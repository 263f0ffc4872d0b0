/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run that counts, and its events. It has a row more than threads, which must stay untouched. */
#ifndef TESTS_KERNELS_EVENTS_H
#define TESTS_KERNELS_EVENTS_H
#include <stdio.h>

#include "tests/kernels/live.h"

enum { EVENTS_THREADS = 32 };

struct counts {
	int64_t at[EVENTS_THREADS + 1][SS_EVENTS_MAX];
};

static inline enum ss_status counts_run(struct live *live, int s, struct counts *counts) {
	struct ss_call call = live_call(live, s);
	call.events = counts->at[0];
	if (live->kernel->reset)
		live->kernel->reset(live->state[s].memory, &call);
	return live->kernel->run(live->state[s].memory, &call);
}

static inline int counts_place(const struct ss_kernel *kernel, const char *name) {
	int e = 0;
	while (strcmp(kernel->events[e].name, name) != 0) /* an unknown name is a fault of the test, and ends it here */
		e++;
	return e;
}

/* The sum over all threads; SS_EVENT_UNKNOWN if one does not know. */
static inline int64_t counts_sum(const struct live *live, const struct counts *counts, const char *name) {
	int e = counts_place(live->kernel, name);
	int64_t sum = 0;
	for (int t = 0; t < live->state[0].threads; t++) {
		if (counts->at[t][e] == SS_EVENT_UNKNOWN)
			return SS_EVENT_UNKNOWN;
		sum += counts->at[t][e];
	}
	return sum;
}

/* A figure of the last run; NAN where it has none of that name. */
static inline double figure_of(struct live *live, const char *name) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_call call = live_call(live, 0);
	size_t count = live->kernel->figures(live->state[0].memory, &call, 1, figures, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return figures[i].value;
	return __builtin_nan("");
}

#endif
