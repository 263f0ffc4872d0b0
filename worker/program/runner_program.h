/* SPDX-License-Identifier: BSD-3-Clause */
/* The operation "program": times and watches a user's program. */
#ifndef WORKER_PROGRAM_RUNNER_PROGRAM_H
#define WORKER_PROGRAM_RUNNER_PROGRAM_H
#include "worker/program/program_impl.h"

/* The reply without its id, failures of the program included; NULL and err for a bad request. New reference. watch:
 * a descriptor whose hang-up means that nobody waits for the reply; then everything is killed, *abandoned is set,
 * and the reply is worthless. -1: none. */
json_t *program_answer(int watch, struct counters *counters, const json_t *request, bool *abandoned, struct err *err);

/* Regions of a program, from a run that counts anyway or from one of its own. */
/* Regions of a program that uses libsweetspot (doc/regions.md): the library finds in its environment where to write
 * and what to count, and each process of the program leaves a file. */
enum { REGIONS_EVENTS_MAX = 16, REGIONS_VARIABLES = 2 };

/* In the terms of perf_event_open(2). The name has neither a comma nor "=". */
struct regions_event {
	const char *name, *unit;
	uint32_t type;
	uint64_t config;
	double scale; /* from the kernel's count to the unit; 0: 1 */
};

struct regions {
	const char *folder;
	const struct regions_event *events;
	size_t event_count;
	const char *variables[REGIONS_VARIABLES + 1]; /* "NAME=VALUE", for the program; NULL-terminated */
};

/* A new folder inside `scratch`, removed with it. The events must outlive it; everything else lives in the arena. */
int regions_prepare(struct arena *arena, const char *scratch, const struct regions_event *events, size_t count,
                    struct regions *regions, struct err *err);
/* Call it after the program's end:
 * [{"name","calls","seconds","threads","per_thread":[seconds],"unbegun","unended","counters":
 * [{"name","value","unit","status","reason","per_thread"}]}], in the order in which they began; empty without
 * regions. notes gets a text for each omission. New references. */
json_t *regions_read(const struct regions *regions, json_t **notes);

struct regions_run {
	struct regions regions;
	char **environment; /* environment of that run; NULL if regions are unavailable */
	struct err err;     /* the reason */
};
/* Where a program's counters count: its processes, or the kernels that it runs on a GPU (device; NULL: none). */
int program_site_counted(struct arena *arena, const char *device, struct counter_site *site, struct err *err);
#endif
