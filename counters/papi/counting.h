/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that PAPI counts for one thread, in one event set for each PAPI component that they belong to. */
#ifndef COUNTERS_PAPI_COUNTING_H
#define COUNTERS_PAPI_COUNTING_H
#include "counters/backend/counter.h"

enum { PAPI_SETS_MAX = 4 };

struct papi_set {
	int id, component;
	int count; /* events that PAPI accepted */
	bool running;
	long long begin[COUNTER_OPEN_MAX], end[COUNTER_OPEN_MAX];
};

struct papi_event {
	const char *unit;
	int set, slot; /* index of its value; PAPI numbers only the events that it has taken */
	int error;     /* PAPI's error if it was refused */
	bool real;     /* its value is a double */
	bool own;      /* software-defined, of this thread */
	bool shared;   /* all threads have the same counter */
	bool hidden;   /* happens in the kernel, whose side is hidden */
	bool limited;  /* the kernel's part of it is not counted */
};

struct papi_counting {
	const char *const *names;
	size_t count;
	int thread;
	struct papi_event events[COUNTER_OPEN_MAX];
	struct papi_set sets[PAPI_SETS_MAX];
	size_t set_count;
};

/* The calls of struct counter_backend. Call open, add and close between papi_library_enter and papi_library_leave. add
 * is called for each of `names`, with PAPI's word for it. own: the event belongs to this thread, though its component
 * can't tell threads apart. -1 if the event can't be counted together with the others; an event that can't be counted
 * at all does not fail, because read gives the reason. */
int papi_counting_open(struct papi_counting *counting, const struct counter_site *site, const char *const *names,
                       size_t count);
int papi_counting_add(struct papi_counting *counting, size_t i, const char *event, bool own);
int papi_counting_start(struct papi_counting *counting);
int papi_counting_stop(struct papi_counting *counting);
int papi_counting_read(const struct papi_counting *counting, struct counter_value *values);
void papi_counting_close(struct papi_counting *counting);

#endif
