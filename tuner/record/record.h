/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded space: configurations that somebody has measured, numbered by a space of exactly these, failures among
 * them. Read from the files of Kernel Tuner (cache), of the T4 format and of KTT; a format is one file and one line in
 * local.mk. Files are hostile until checked. */
#ifndef TUNER_RECORD_RECORD_H
#define TUNER_RECORD_RECORD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/base/mem.h"
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

struct record_cost { /* seconds; 0: not told */
	double compile, run, framework, search, validation;
};

struct record_row {
	enum record_status status;
	double
		value; /* milliseconds, or in the file's own unit of another objective; > 0, finite where correct, else NAN */
	const double *samples; /* milliseconds, as recorded; not necessarily with the mean `value` */
	size_t sample_count;
	struct record_cost cost;
	const double *counters; /* by record->counters, NAN where not told; NULL: none */
};

struct record {
	struct arena *arena;                            /* owns all beneath, but for the space */
	struct space *space;                            /* all rows, by index */
	struct record_row *rows;                        /* space_valid(space) */
	const char *format, *kernel, *device, *problem; /* texts; "" where the file says nothing */
	const char *objective, *unit;                   /* "time", "ms" */
	const char **counters;
	size_t counter_count;
	uint64_t correct, best;        /* rows that worked; index of the best of these */
	double optimum, median, worst; /* values over those that worked */
	double median_cost;            /* seconds an evaluation, median over those that worked */
};

/* A file by its content, gzipped or not, also one that was never closed. ERR_USAGE: not a format that is known, damaged
 * (with the place), or without a single configuration that worked. */
struct record *record_read(const char *path, struct err *err);
/* The same of text in memory; `name` for messages. */
struct record *record_parse(const char *text, size_t size, const char *name, struct err *err);
void record_free(struct record *record); /* NULL is fine */
/* Seconds that evaluating the row costs: compile + run + framework + search + validation. */
double record_row_cost(const struct record_row *row);

#endif
