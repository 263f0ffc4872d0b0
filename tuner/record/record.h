/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded space: configurations that were measured elsewhere, failures included, and a space of exactly these. Read
 * from the files of Kernel Tuner (cache), of the T4 format and of KTT; a format is one file and one line in
 * local.mk. Files are hostile until checked. */
#ifndef TUNER_RECORD_RECORD_H
#define TUNER_RECORD_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "tuner/space/space.h"

enum record_status {
	RECORD_CORRECT,
	RECORD_CONSTRAINTS,
	RECORD_COMPILE,
	RECORD_RUNTIME,
	RECORD_TIMEOUT,
	RECORD_CORRECTNESS
};
const char *record_status_word(enum record_status status); /* the T4 words */

struct record_cost { /* seconds; 0: unknown */
	double compile, run, framework, search, validation;
};

struct record_row {
	enum record_status status;
	double value; /* milliseconds, or the file's unit of another objective; finite and > 0 if correct, else NAN */
	const double *samples; /* milliseconds, as recorded; not necessarily with the mean `value` */
	size_t sample_count;
	struct record_cost cost;
	const double *counters; /* in the order of record->counters, NAN if unknown; NULL: no counters */
};

struct record {
	struct arena *arena;                            /* owns everything below except the space */
	struct space *space;                            /* all rows, by index */
	struct record_row *rows;                        /* space_valid(space) */
	const char *format, *kernel, *device, *problem; /* "" where the file does not tell */
	const char *objective, *unit;                   /* "time", "ms" */
	const char **counters;
	size_t counter_count;
	uint64_t correct, best;        /* number of rows that worked; index of the best of them */
	double optimum, median, worst; /* of the rows that worked */
	double median_cost;            /* seconds an evaluation, over the rows that worked */
};

/* Detects the format by the content; the file may be gzipped, and its last brackets may be missing. ERR_USAGE: the
 * format is unknown, the file is damaged (with the place), or no configuration worked. */
struct record *record_read(const char *path, struct err *err);
/* The same for a text in memory; `name` serves for messages. */
struct record *record_parse(const char *text, size_t size, const char *name, struct err *err);
void record_free(struct record *record); /* NULL is fine */
/* The seconds to evaluate the row: compile + run + framework + search + validation. */
double record_row_cost(const struct record_row *row);

#endif
