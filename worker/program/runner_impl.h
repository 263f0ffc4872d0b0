/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs of one trial: regions, counts, what a failed program said, and simulation. */
#ifndef WORKER_PROGRAM_RUNNER_IMPL_H
#define WORKER_PROGRAM_RUNNER_IMPL_H
#include "worker/count/simulate.h"
#include "worker/program/runner_program.h"

/* Collects the regions of all processes of a program while their files are read. */
enum {
	REGIONS_MAX = 256,       /* regions that are reported */
	REGIONS_ROWS_MAX = 4096, /* threads that a region reports one by one */
	REGIONS_NAME_MAX = 255,  /* bytes, as in the library */
	REGIONS_NOTES_MAX = 20
};

/* An event in a region. */
struct regions_count {
	enum counter_status status;
	char reason[COUNTER_REASON];
	double total;
	json_t *per_thread; /* null if it was not counted */
};

struct regions_region {
	const char *name;
	double calls, seconds, threads, unbegun, unended;
	json_t *per_thread;
	struct regions_count *counts; /* in the order of `regions` */
};

struct regions_set {
	struct arena *arena;
	const struct regions *regions;
	struct regions_region *region[REGIONS_MAX];
	size_t count, left_out, rows, rows_left_out, files_left_out;
	json_t *index; /* from a name to its index in `region` */
	json_t *notes;
};

void regions_note(struct regions_set *set, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The regions as JSON, and the last notes; do not use the regions afterwards. New reference. */
json_t *regions_set_end(struct regions_set *set);
/* The text of a file, which is modified. where: its name, for notes. */
void regions_text_read(struct regions_set *set, char *text, size_t size, const char *where);

/* Counts a program and its descendants, in runs of their own after the samples. */

/* One run for each batch of events that can be counted together. A run that fails leaves its events unavailable; the
 * trial keeps its outcome unless it is abandoned. first: environment of the first of these runs; NULL: the usual
 * one. */
void program_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, char **first,
                   struct counting *counting);

/* The end of a failed program's output, as lines for people. */

/* The last lines of stdout, as far as it was read, followed by those of stderr: an array of cleaned lines, a new
 * reference. A request with `show` gets many more of them. */
json_t *program_said(const struct program_trial *trial);

/* Repeats a program and its descendants on a processor that valgrind simulates. */
struct program_simulated {
	double values[CACHEGRIND_EVENTS]; /* sums over all processes */
	int processes;
	char model[SIMULATION_MODEL];
};

#define PROGRAM_SIMULATE_OUT "out"
#define PROGRAM_SIMULATE_LOG "log"
#endif
