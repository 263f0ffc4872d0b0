/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables with a column of times for each value of something become tables with a row for each time. */
#ifndef TUNER_STUDY_TABLE_WIDE_IMPL_H
#define TUNER_STUDY_TABLE_WIDE_IMPL_H
#include "base/mem.h"
#include "tuner/study/study_table_impl.h"

struct wide {
	size_t column[CSV_COLUMNS_MAX], count;  /* those with times */
	const char *value[CSV_COLUMNS_MAX];     /* that their headers stand for */
	const char *name;                       /* of these values: "threads", "version" */
	const char *direction[CSV_COLUMNS_MAX]; /* of copies, if `directed`: then the values are what is left of headers */
	const char *other; /* what the second key of "N=1024, B=16" is, if `directed`; NULL: a direction */
	bool directed;
	struct table_name measure; /* of the times, or the rates */
	bool repeats;              /* the columns are runs of the same */
	bool with_serial;          /* the last column is serial code, beside teams of threads */
	bool unnamed;              /* the headers are bare numbers, and nothing says of what */
	bool speedups;             /* all are 1 in the first row */
	size_t parts;              /* number of columns that are called like parts of a time */
	bool sum;                  /* the columns are parts, and nothing is their sum */
	const char *unit;          /* that a comment names, or NULL */
	bool assumed;              /* the unit is not known: seconds */
};
/* noted: the name that the table gives, or NULL. False: the table is not wide. */
bool wide_find(const struct csv *csv, const char *noted, const struct study_reading *reading, struct wide *wide);

/* The same as a table with a row for each time, or, of parts, with a column for their sum; lives in the arena of `csv`.
 * src: table_long.c */
struct csv *wide_to_long(const struct csv *csv, const struct wide *wide);
#endif
