/* SPDX-License-Identifier: BSD-3-Clause */
/* Why perf_event_open(2) refuses an event, and the remedy. */
#ifndef COUNTERS_PERF_REASONS_H
#define COUNTERS_PERF_REASONS_H
#include <stdbool.h>

#define PERF_UNPARANOID "sudo sysctl kernel.perf_event_paranoid=1"

/* Facts about this process, because the same errno has several meanings. */
struct perf_facts {
	int paranoid; /* kernel.perf_event_paranoid */
	bool capable; /* rights_perf */
	bool seccomp; /* a filter of system calls is on */
	bool virtual_machine, pmu;
};

struct perf_reason {
	const char *reason; /* never NULL */
	const char *fix;    /* "" if there is none */
};

struct perf_reason perf_reason_find(int error, const struct perf_facts *facts);
struct perf_reason perf_reason_here(int error); /* by the facts about this process */

#endif
