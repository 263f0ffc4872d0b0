/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that somebody brings (doc/tables.md): the header tells which columns are the problem, the parameters, the
 * time or a rate, and what else was measured. */
#ifndef TUNER_STUDY_STUDY_TABLE_IMPL_H
#define TUNER_STUDY_STUDY_TABLE_IMPL_H
#include "base/csv.h"
#include "tuner/study/study.h"

enum table_role {
	TABLE_PARAM,
	TABLE_PROBLEM,
	TABLE_TIME,    /* the values of the rows */
	TABLE_RATE,    /* the same as amounts a second */
	TABLE_FIGURE,  /* a part of the time, or another number that was measured */
	TABLE_COUNTER, /* events of hardware or software */
	TABLE_FILE,    /* the name of a file with counters (counted_file_impl.h) */
	TABLE_STATUS,
	TABLE_IGNORED
};

enum table_measure { MEASURE_NONE, MEASURE_TIME, MEASURE_RATE };
enum { TABLE_NAME = 160 };

/* A header's name: "kernel time (ms)" is a time, its base "kernel time" and its scale 1e-3. */
struct table_name {
	char base[TABLE_NAME]; /* lower case, without the unit */
	enum table_measure measure;
	double scale;         /* seconds, or amounts a second, of one unit */
	char per[TABLE_NAME]; /* what it is the time of, or a rate of: "acquire", "byte", "operation"; "" for a run */
};
/* src: table_key.c */
bool table_among(const char *word, size_t length, const char *words);
bool table_has_word(const char *text, const char *words); /* is one of its parts among the words? */
void table_words_join(const char *header, char key[TABLE_NAME]);
/* A header in English, if each of its words is known and some are in another language; otherwise as it is. */
void table_translate(const char *header, char out[TABLE_NAME]);
/* The header in lower case, with "_" between words, without its unit and words such as "number of". */
void table_key(const char *header, char key[TABLE_NAME]);
bool table_is_threads(const char *header); /* threads of one process: "Cores", "#threads" */
bool table_is_team(const char *header);    /* threads, ranks, devices */
/* src: table_words.c */
void table_name_read(const char *header, struct table_name *name);
/* How well a column serves as the time of a row, 0 being the best; -1: it is not the time of a whole run. */
int table_time_rank(const struct table_name *name);
bool table_is_statistic(const struct table_name *name); /* a minimum, a deviation, a bound of an interval */
bool table_is_problem(const char *header);
bool table_is_parameter(const char *header);
bool table_is_counter(const char *header);
bool table_is_count(const char *header); /* iterations, rounds: an input, or something that was counted */
bool table_is_part(const char *header);  /* copying, communication, input: a part of a run */
bool table_is_figure(const char *header);
extern const char table_direction_words[];
/* Is this the cell of a run that did not yield a time: empty, "-", "n/a", "timeout"? */
bool table_is_missing(const char *cell);

/* src: table_text.c. A copy of the text in which tables of Markdown, LaTeX, gnuplot and the like are separated by tabs,
 * and titles are left out; lines keep their numbers. NULL: it is fine as it is. The caller frees it. */
char *table_text_plain(const char *text, size_t size, size_t *plain_size);
/* src: table_cells.c */
extern const char table_serial_words[];
/* Rewrites numbers that are written for people: 1,234,567; 1:23.7; 512x512 as a size; "seq" among numbers of threads,
 * which gets a column of its own. A table whose rows are the columns of another one is turned; it lives in the arena.
 */
struct csv *table_cells_rewrite(struct csv *csv);
/* Leaves out what follows "±" in cells. */
void table_deviations_cut(struct csv *csv);
/* "1:23.7", "1:02:03" and "1m23.7s" are times; false for anything else. */
bool table_clock(const char *cell, double *seconds);
/* The digits of a side if the text begins with a square or a cube such as "64x64", 0 otherwise; sets their length. */
size_t table_side(const char *text, size_t *length);

struct table_column {
	const char *name;
	struct table_name read;
	enum table_role role;
	bool numbers; /* every cell that is not empty is a number; sizes as 64K count */
};
struct table {
	const struct csv *csv;
	const char *path;
	struct table_column *columns;
	size_t value;      /* the column of times or rates */
	const char *wide;  /* what a column for each was in the file; NULL: it was not wide */
	bool assumed_unit; /* the file does not say that times are seconds */
	bool unitless;     /* nobody knows the unit of the values, of which less is better */
	bool guessed;      /* nothing says which direction of the values is better */
	const int *given;  /* the roles that a producer's table gives, or -1; NULL: it is no producer's */
	const char *producer;
	const struct study_reading *reading;
};
enum { TABLE_PROBLEM_NAMES = 32 };
/* src: table_parts.c */
/* Do the table's parts leave some of the time, which is then a part as well? */
bool table_has_rest(const struct table *table);
/* The number in a cell, in the unit that it or its column names. */
bool table_measured(const struct csv *csv, const char *cell, const struct table_name *name, double *value);
/* The other measurements of a row besides its time. New reference; NULL if a file of counters cannot be read. rest: the
 * parts leave some of the time. */
json_t *table_detail(const struct table *table, size_t row, double seconds, bool rest, struct err *err);
/* src: table_roles.c */
int table_roles(struct table *table, struct err *err);
/* src: table_follow.c: columns that follow from others. Only tables of up to so many rows are looked through. */
enum { TABLE_PAIRS_ROWS = 400 };
void table_roles_follow(struct table *table);
/* The number in a cell; 4K is 4096 if `sizes`. False if it is not a number. */
bool table_number(const struct csv *csv, const char *cell, bool sizes, double *number);
#endif
