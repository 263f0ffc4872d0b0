/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded space: configurations that were measured elsewhere, failures included, and a space of exactly these. Read
 * from the files of Kernel Tuner (cache), of the T4 format and of KTT; a format is one file and one line in
 * local.mk. Files are hostile until checked. */
#ifndef TUNER_RECORD_RECORD_H
#define TUNER_RECORD_RECORD_H

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
	/* Less is better: milliseconds, or for another objective what record_shown turns into the file's number. Finite and
	 * above 0 if correct, else NAN. */
	double value;
	const double *samples; /* milliseconds, as recorded; not necessarily with the mean `value` */
	size_t sample_count;
	struct record_cost cost;
	const double *counters; /* in the order of record->counters, NAN if unknown; NULL: no counters */
};

/* Values are the numbers of the file, or 1/x where more is better, and a line through all of them where some are 0 or
 * below. */
enum record_sense { RECORD_LESS, RECORD_MORE, RECORD_LINE };

struct record {
	struct arena *arena;                            /* owns everything below except the space */
	struct space *space;                            /* all rows, by index */
	struct record_row *rows;                        /* space_valid(space) */
	const char *format, *kernel, *device, *problem; /* "" where the file does not tell */
	const char *objective, *unit;                   /* "time", "ms" */
	enum record_sense sense;
	double base, step; /* RECORD_LINE: the file's number is base + step x value */
	bool more;         /* more of the objective is better, which the objective's name told if `guessed` */
	bool guessed;
	const char **counters;
	size_t counter_count;
	uint64_t correct, best;        /* number of rows that worked; index of the best of them */
	double optimum, median, worst; /* of the rows that worked */
	double median_cost;            /* seconds an evaluation, over the rows that worked */
};

/* The objective as the user calls it; NULL where the file is to tell. */
struct record_choice {
	const char *objective, *unit;
	bool more; /* of `objective` is better */
	/* For a table as it stands (record_table): the column of values, and those of parameters; parameter_count 0: all
	 * others. */
	const char *value;
	const char *const *parameters;
	size_t parameter_count;
};

/* Detects the format by the content; the file may be gzipped, and its last brackets may be missing. ERR_USAGE: the
 * format is unknown, the file is damaged (with the place), or no configuration worked. */
struct record *record_read(const char *path, const struct record_choice *choice, struct err *err);
/* The same for a text in memory; `name` serves for messages. */
struct record *record_parse(const char *text, size_t size, const char *name, struct err *err);
/* A table of which choice->value and the columns behind it tell all; objective is `value`, or NULL if its name tells
 * the direction. */
struct record *record_table(const char *path, const struct record_choice *choice, struct err *err);
/* The text of any file of at most 1 GiB, unpacked (gzip, zip, and bzip2, xz, zstd where their tools are) and as UTF-8
 * without a mark; it ends with a 0, and the caller frees it. ERR_USAGE for a pointer of Git LFS, a web page, .. */
char *record_text(const char *path, size_t *size, struct err *err);
bool record_is_known(const char *text, size_t size);            /* is it of one of the formats? text: of record_text */
void record_free(struct record *record);                        /* NULL is fine */
double record_shown(const struct record *record, double value); /* as the file has it */
/* The seconds to evaluate the row: compile + run + framework + search + validation. */
double record_row_cost(const struct record_row *row);
#endif
