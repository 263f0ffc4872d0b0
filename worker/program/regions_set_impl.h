/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the regions of all processes of a program while their files are read. */
#ifndef WORKER_PROGRAM_REGIONS_SET_IMPL_H
#define WORKER_PROGRAM_REGIONS_SET_IMPL_H

#include "worker/program/runner_program.h"

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
#endif
