/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_STUDY_STUDY_IMPL_H
#define TUNER_STUDY_STUDY_IMPL_H

#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/mem.h"
#include "tuner/study/contrast.h"

/* Shared by the files of this room. */

/* Only the trials of the highest grade of a row count. */
enum grade { GRADE_NONE, GRADE_OVER, GRADE_SHORT, GRADE_DISTURBED, GRADE_SEARCH, GRADE_DUEL };

struct gathered { /* a row while trials are added */
	char *key;
	json_t *problem, *config, *detail, *counted;
	double detail_value; /* as in a row */
	enum grade grade;
	double *values, *samples;
	size_t value_count, sample_count, trials;
	double searched_log; /* sum over undisturbed trials of a search */
	size_t searched_count;
	size_t newest; /* number of its latest trial */
};

struct gathering {
	struct gathered *rows;
	size_t count, room;
	size_t *slots, slot_count; /* hash table over rows: 1 + index; 0 is empty */
};

struct study_named { /* by whoever adds trials */
	json_t *winner_problem, *winner_config, *baseline_config;
};

struct study {
	char *kernel, *device;
	struct arena *arena; /* of columns and rows */
	json_t *machine, *ceilings;
	const struct study_ceiling *ceiling; /* the members of `ceilings` */
	size_t ceiling_count;
	const char **counted; /* the names of all counters */
	size_t counted_count;
	double noise;
	char *rate; /* its name; NULL: values are seconds */
	double rate_scale;
	bool unitless; /* the unit of the values is not known */
	struct study_host host;
	struct gathering gathering;
	json_t *last_problem; /* of the latest trial */
	char *last_text;      /* its canonical text */
	size_t added, failures;
	struct study_named named;
	/* set by study_finish */
	struct study_row *rows;
	size_t row_count, left_out;
	size_t limit; /* 0: the default */
	struct study_column columns[STUDY_COLUMNS_MAX];
	size_t column_count;
	size_t winner, baseline;
};

bool study_row_safe(const struct study_row *row); /* it is safe to use and was not cut short */
/* Scales rows that were only searched to the speed that the machine had during races and duels. */
void study_columns_make(struct study *study);

/* Sorts rows so that those which agree in all columns but the skipped ones are neighbours, ascending in the skipped
 * ones. */
struct study_order {
	const struct study *study;
	bool skip[STUDY_COLUMNS_MAX];
};
int study_order_compare(const struct study_order *order, size_t a,
                        size_t b); /* 0: they agree in all columns that are not skipped */
void study_order_sort(const struct study_order *order, size_t *rows, size_t count, size_t by);

/* Counters that other programs have written: `perf stat -x,` and `likwid-perfctr -o FILE.csv`, as
 * [{"name", "value", "unit", "status"}], under our names where we have one; where: for messages. New reference. */
json_t *counted_text_read(const char *text, const char *where, struct err *err);

/* Tables that somebody brings (doc/tables.md): the header tells which columns are the problem, the parameters, the
 * time or a rate, and what else was measured. */
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

enum table_measure { MEASURE_NONE, MEASURE_TIME, MEASURE_RATE, MEASURE_SPEEDUP };
enum { TABLE_NAME = 160 };

/* A header's name: "kernel time (ms)" is a time, its base "kernel time" and its scale 1e-3. */
struct table_name {
	char base[TABLE_NAME]; /* lower case, without the unit */
	enum table_measure measure;
	double scale;         /* seconds, or amounts a second, of one unit */
	char per[TABLE_NAME]; /* what it is the time of, or a rate of: "acquire", "byte", "operation"; "" for a run */
};
/* The unit of a time as headers have it. */
static inline const char *table_time_unit(double scale) {
	return scale == 1      ? "s"
	       : scale == 1e-3 ? "ms"
	       : scale == 1e-6 ? "us"
	       : scale == 1e-9 ? "ns"
	       : scale == 60   ? "minutes"
	                       : "hours";
}
/* src: table_key.c */
bool table_among(const char *word, size_t length, const char *words);
bool table_has_word(const char *text, const char *words); /* is one of its parts among the words? */
void table_words_join(const char *header, char key[TABLE_NAME]);
/* src: table_translate.c. A header in English, if each of its words is known and some are in another language;
 * otherwise as it is. */
void table_translate(const char *header, char out[TABLE_NAME]);
/* src: table_key.c */
/* The header in lower case, with "_" between words, without its unit and words such as "number of". */
void table_key(const char *header, char key[TABLE_NAME]);
bool table_is_threads(const char *header); /* threads of one process: "Cores", "#threads" */
bool table_is_team(const char *header);    /* threads, ranks, devices */
/* src: table_words.c */
/* The first bracket of a name, but not that of code: "map[int]int"; NULL: it does not have one. */
const char *table_bracket(const char *text);
void table_name_read(const char *header, struct table_name *name);
/* How well a column serves as the time of a row, 0 being the best; -1: it is not the time of a whole run. */
int table_time_rank(const struct table_name *name);
bool table_is_measurement(const char *header);          /* a time or a rate by its name */
bool table_is_statistic(const struct table_name *name); /* a minimum, a deviation, a bound of an interval */
bool table_is_problem(const char *header);
bool table_is_parameter(const char *header);
bool table_is_counter(const char *header);
bool table_is_count(const char *header); /* iterations, rounds: an input, or something that was counted */
bool table_is_part(const char *header);  /* copying, communication, input: a part of a run */
bool table_is_figure(const char *header);
extern const char table_direction_words[], table_middle_words[];
/* Is this the cell of a run that did not yield a time: empty, "-", "n/a", "timeout"? */
bool table_is_missing(const char *cell);
bool table_is_dash(const char *cell);   /* is there nothing to tell, as for the block size of what has none? */
bool table_is_serial(const char *cell); /* code that has no team */

/* src: table_text.c. A table of nobody who is known, as people type them or programs print them. */
struct csv *table_text_read(const char *path, const char *text, size_t size, struct err *err);
/* A copy of the text in which tables of Markdown, LaTeX, gnuplot and the like are separated by tabs, titles, other
 * tables and a few lines of other fields are left out; lines keep their numbers. NULL: it is fine as it is. The caller
 * frees it. */
char *table_text_plain(const char *text, size_t size, size_t *plain_size);
/* src: table_sections.c. Several tables of one header as one, with a column for the headings above them. NULL: the text
 * is not so. The caller frees it. */
char *table_sections_plain(const char *text, size_t size, size_t *plain_size);
/* src: table_lines.c. The lines that a program prints for its runs as a table of tabs. NULL: the text is not so. The
 * caller frees it. */
char *table_lines_plain(const char *text, size_t size, size_t *plain_size);
/* src: table_log.c. The same of a log, whose lines say what holds for the times below. */
char *table_log_plain(const char *text, size_t size, size_t *plain_size);
/* src: table_nameless.c. Names the columns of a table without a line of names, if one has fractions, its times, and the
 * others whole numbers; refuses other tables that lack one. Relative changes of a time are called so. */
int table_nameless(struct csv *csv, const char *path, const char **names, struct err *err);
/* src: table_ratios.c. Names the columns that are ratios of others, and those that a speed-up or an efficiency tells to
 * be times or rates. */
void table_ratios_name(struct csv *csv);
/* The latest column that one of them tells to be times, or the two of which it is the quotient; SIZE_MAX: none. */
size_t table_told(const struct csv *csv, size_t *other);
/* src: table_cells.c */
extern const char table_serial_words[];
/* The name of words at the left of a table whose corner names what is across. */
#define CORNER_SERIES "series"
/* Rewrites numbers that are written for people: 1,234,567; 1:23.7; 512x512 as a size; "seq" among numbers of threads,
 * which gets a column of its own. A table whose rows are the columns of another one is turned.
 * usual: the language of the headers has commas before fractions. *noted: what columns of numbers are values of, if the
 * corner says so, or NULL. */
void table_cells_rewrite(struct csv *csv, bool usual, const char **noted);
static inline size_t table_digits(const char *at) { /* that it begins with */
	return strspn(at, "0123456789");
}
static inline bool table_is_sign(const char *at) { /* or a picture, by its first byte in UTF-8 */
	return (unsigned char)*at == 0xe2 || (unsigned char)*at == 0xf0;
}
static inline void table_cell_set(struct csv *csv, size_t row, size_t column, const char *text) {
	csv->cells[row * csv->columns + column] = text;
}
/* src: table_device.c. A table of the parts of a device's time as one with a row for each run, of the device and of the
 * processor; it lives in the arena of `csv`. NULL: the table is not so, or somebody names its columns. *assumed:
 * nothing says that times are seconds. */
struct csv *table_parted(const struct csv *csv, const struct study_reading *reading, bool *assumed);
/* src: table_units.c. Moves the units of the cells of a column to its header, in one scale, and takes marks of
 * thousands and the sides of sizes out; commas: fractions begin with one. */
void table_units_rewrite(struct csv *csv, size_t column, bool commas);
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
	size_t value;         /* the column of times or rates */
	const char *wide;     /* what a column for each was in the file; NULL: it was not wide */
	bool over_own;        /* the speed-ups of each version are over its own first time */
	bool over_one;        /* the speed-ups of a row are over its own first time */
	bool assumed_unit;    /* the file does not say that times are seconds */
	bool told_times;      /* but a speed-up tells that they are times */
	bool unitless;        /* nobody knows the unit of the values, of which less is better */
	bool guessed;         /* nothing says which direction of the values is better */
	size_t among;         /* how many columns could be the value as well as this one does, if not 0 */
	const char *left_out; /* lines of the file, in words; NULL: none */
	const char *names;    /* assumed for columns to which the file gives none; NULL: it gives all */
	bool on_device;       /* it has the parts of a device's time */
	bool on_guess;        /* words of the table make it one of a GPU, but nothing says of which */
	const int *given; /* the role of each column that its producer tells, -1: it does not; NULL: no known producer */
	const char *producer;
	const struct study_reading *reading;
	const char *(*said)[2]; /* the names in the file, and in English or as words */
	size_t said_count;
};
/* Was it chosen or given? */
static inline bool table_is_set(const struct table_column *column) {
	return column->role == TABLE_PARAM || column->role == TABLE_PROBLEM;
}
/* A column of numbers with the unit of a time or a rate was measured: "read (ms)" is not an input. */
static inline bool table_is_measured(const struct table_column *column) {
	return column->numbers && column->read.measure != MEASURE_NONE;
}
static inline bool table_is_given_problem(const struct table *table, const char *name) {
	bool given = false;
	for (size_t i = 0; table->reading && i < table->reading->problem_count && !given; i++)
		given = strcmp(table->reading->problem[i], name) == 0;
	return given;
}
/* The number in a cell; 4K is 4096 if `sizes`. False if it is not a number. */
bool table_number(const struct csv *csv, const char *cell, bool sizes, double *number);
/* NAN: it is not a number. */
static inline double table_own(const struct csv *csv, size_t row, size_t column) {
	double number;
	return table_number(csv, csv_cell(csv, row, column), false, &number) ? number : NAN;
}
static inline double table_amount(const struct csv *csv, size_t row, size_t column) { /* the same with sizes */
	double number;
	return table_number(csv, csv_cell(csv, row, column), true, &number) ? number : NAN;
}
static inline double table_positive(const struct csv *csv, size_t row, size_t column) { /* NAN: none above 0 */
	double number = table_own(csv, row, column);
	return number > 0 ? number : NAN;
}
/* The largest over the smallest number above 0 of a column; 0: it has none. */
static inline double table_span(const struct csv *csv, size_t column) {
	double least = INFINITY, most = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		least = fmin(least, table_positive(csv, r, column));
		most = fmax(most, table_positive(csv, r, column));
	}
	return most / least;
}
static inline bool table_is_real(const struct csv *csv, size_t column) { /* has it numbers with fractions? */
	size_t r = 0;
	while (r < csv->rows && !(table_own(csv, r, column) > floor(table_own(csv, r, column))))
		r++;
	return r < csv->rows;
}
/* Is a column of numbers one over another in all rows, up to this share? */
static inline bool table_is_quotient(const struct csv *csv, size_t column, size_t over, size_t under, double near) {
	size_t r = 0;
	while (r < csv->rows &&
	       fabs(table_positive(csv, r, column) * table_positive(csv, r, under) / table_positive(csv, r, over) - 1) <
	           near)
		r++;
	return r == csv->rows;
}
/* Caches and clocks let a team gain a bit more than it has members, but no more than this. False as well where one of
 * the numbers is not known. */
static inline bool table_exceeds_team(double gain, double members) {
	return gain > 1.3 * members;
}
/* Do two rows have the same in a column? */
static inline bool table_is_same(const struct csv *csv, size_t column, size_t a, size_t b) {
	return strcmp(csv_cell(csv, a, column), csv_cell(csv, b, column)) == 0;
}
/* How many of so many rows, from the first on, have the same in a column as this one? */
static inline size_t table_seen(const struct csv *csv, size_t column, size_t row, size_t rows) {
	size_t seen = 0;
	for (size_t r = 0; r < rows; r++)
		seen += table_is_same(csv, column, r, row);
	return seen;
}
static inline bool table_varies(const struct csv *csv, size_t column) {
	size_t r = 1;
	while (r < csv->rows && table_is_same(csv, column, r, 0))
		r++;
	return r < csv->rows;
}
enum { TABLE_PROBLEM_NAMES = 32 };
/* src: table_rows.c: adds the rows of a table whose columns have their roles. */
int table_fill(struct study_set *set, struct table *table, const char *kernel, const char *device,
               const json_t *machine, struct err *err);
/* src: table_value.c: finds the column of times or rates, and its unit. */
extern const char table_total_words[];
int table_value_find(struct table *table, struct err *err);
/* src: table_roles.c */
extern const char table_run_words[]; /* headers that number measurements */
int table_roles(struct table *table, struct err *err);
/* src: table_derive.c. Does a column follow from others, as a grid from the size and the block? */
bool table_is_derived(const struct table *table, size_t column);
/* Whole numbers before a team were chosen: "work held", "threads", "mutex". */
bool table_is_before_team(const struct csv *csv, size_t column);
/* src: table_labels.c. Leaves out words that were neither chosen nor given. */
void table_labels_ignore(struct table *table);
/* src: table_follow.c: columns that follow from others. Only tables of up to so many rows are looked through. */
enum { TABLE_PAIRS_ROWS = 400 };
/* src: table_numbers.c. The least and the largest number of a column, the times there, and the least time. */
struct table_ends {
	double small, large, at_small, at_large, least;
};
struct table_ends table_ends(const struct table *table, size_t column);
/* Do two rows agree in all inputs and parameters but this column? */
bool table_same_but(const struct table *table, size_t a, size_t b, size_t column);
/* The size of the problem, with which times grow, or the number of a run, which they do not follow; named: its name
 * says that it counts something. */
enum table_number { NUMBER_OTHER, NUMBER_SIZE, NUMBER_RUN };
enum table_number table_number_kind(const struct table *table, size_t column, bool named);
/* src: table_follow.c. Refuses numbers without a unit that cannot be times. */
int table_roles_follow(struct table *table, struct err *err);

/* Files of other programs: a producer is recognised by the names in its header or its first bytes, and one line of a
 * table tells what each of its columns is. */
struct producer {
	const char *name;
	const char *header; /* "a;b": a table with columns of these names, which may hold * */
	const char *keys;   /* "a;b": JSON with these members near its beginning; NULL: it has no such files */
	const char *rows; /* where a document has its rows: "benchmarks.states"; "": it is a list, or has one in each line;
	                     "[": it is a list, because other documents have the same members */
	/* "pattern=role[:argument]; .." The first pattern that fits a column tells its role; others are skipped. "^name" is
	 * a member of what a row stands in, "a.b" one of its object a. The roles:
	 *     time[:UNIT]      a time of the row; the first one of the list that the file has
	 *     sample[:UNIT]    the same; each number of a list is a row
	 *     score            a time or a rate, by its unit
	 *     unit             of the time or score, for each row
	 *     less, more       an objective of this direction, whose unit nobody knows
	 *     parameter[:NAME] chosen; without a name what * stands for
	 *     problem[:NAME]   an input
	 *     named            a parameter, a size or a counter by its name
	 *     path             "BM_copy/64/threads:2", as Google Benchmark joins names and arguments
	 *     test[:NAME]      "test_sort[8-fast]", whose arguments pytest also gives by name
	 *     pairs            "N=8&M=2"
	 *     command          whose words that differ between rows are parameters, if no column is one
	 *     per              the time is of so many iterations
	 *     counter          counted
	 *     aggregate:WORD   another word says that the row is made from others
	 *     status:WORD      another word says that the row failed */
	const char *columns;
};

/* NULL: it is JSON of nobody who is known, or no JSON. src: producer.c */
const struct producer *producer_of_json(const char *text, size_t size);

/* Leaves out marks of thousands in front of a unit: "1,234.5 ns", "1 234,5", and "12,345" as 12345 or, with
 * MARKS_COMMA, 12.345. MARKS_WHOLE: it does not have a fraction. */
enum producer_marks { MARKS_POINT, MARKS_COMMA, MARKS_WHOLE };
void producer_number(char *cell, enum producer_marks marks);

/* Does a line name the columns of one of them? */
bool producer_heads(const char *line, size_t length);

/* A table under construction, of cells under names. src: producer_json.c */
struct grid;
struct grid *grid_new(void);
void grid_row(struct grid *grid, size_t line); /* begins a row */
/* Sets a cell of the row; the texts are copied. Names and cells beyond the limits of tables are dropped. role: an enum
 * table_role, or -1 where the name tells; GRID_MORE: the cell joins what the row has there, on a line of its own. */
enum { GRID_MORE = -2 };
void grid_put(struct grid *grid, const char *name, const char *cell, int role);
/* The table, which csv_free frees, with the roles of its columns, if they are asked for; the grid is gone. NULL if it
 * does not have any rows. */
struct csv *grid_end(struct grid *grid, int **role);
/* The parameters and sizes in the first `length` bytes of a cell: "BM_copy/64/threads:2", "N=8&M=2", or a command,
 * which is compared with those of the other rows. */
enum grid_names { GRID_PATH, GRID_PAIRS, GRID_COMMAND };
void grid_split(struct grid *grid, enum grid_names kind, const struct csv *csv, size_t row, size_t column,
                size_t length);

/* A table with a row for each time, whose columns have a role. */
struct produced {
	struct csv *csv; /* owns the rest */
	int *role;       /* of each column: an enum table_role, or -1 where its name tells */
	const char *producer;
	bool unitless, more, guessed;
};
/* producer NULL: by the header; 1: it is not known. The caller frees the table. -1 with err if a row cannot be read. */
int producer_apply(const struct producer *producer, const struct csv *csv, const char *path,
                   const struct study_reading *reading, struct produced *produced, struct err *err);

/* The rows of a document as a table, NULL if it does not have any; producer NULL: JSON of nobody who is known, a list
 * of objects, an object in each line, or an object of lists. src: producer_json.c */
struct csv *producer_json_rows(const struct producer *producer, const char *text, size_t size);

/* The texts of time(1), perf stat, likwid, hyperfine and Criterion: a row for each run, with columns that speak for
 * themselves. NULL: it is not one of them. src: producer_text.c */
struct csv *producer_text(const char *text, size_t size);

/* Tables with a column of times for each value of something become tables with a row for each time. */
struct wide {
	size_t column[CSV_COLUMNS_MAX], count;  /* those with times */
	const char *value[CSV_COLUMNS_MAX];     /* that their headers stand for */
	const char *name;                       /* of these values: "threads", "version" */
	const char *direction[CSV_COLUMNS_MAX]; /* of copies, if `directed`: then the values are what is left of headers */
	const char *other; /* what the second key of "N=1024, B=16" is, if `directed`; NULL: a direction */
	bool directed;
	struct table_name measure;       /* of the times, or the rates */
	bool repeats;                    /* the columns are runs of the same */
	bool numbered;                   /* their headers have a number and the same word, if any */
	bool with_serial;                /* the last column is serial code, beside teams of threads */
	bool unnamed;                    /* the headers are bare numbers, and nothing says of what */
	bool speedups;                   /* all are 1 in the first row, or for one member */
	bool over_one;                   /* each row has the speed-ups over its own first time */
	size_t parts;                    /* number of columns that are called like parts of a time */
	bool sum;                        /* the columns are parts, and nothing is their sum */
	const char *unit;                /* that a comment names, or NULL */
	size_t part_of[CSV_COLUMNS_MAX]; /* 1 + the version that another column is a part of; SIZE_MAX: left out */
	const char *header;              /* of the times in a row each */
	bool assumed;                    /* the unit is not known: seconds */
	enum table_measure told;         /* by a speed-up of one over another */
};
/* src: wide_words.c. Numbers, with cells that are empty or say why there is none. */
bool wide_is_numbers(const struct csv *csv, size_t column);
bool wide_is_unknown(const struct csv *csv, size_t column); /* without a unit, and neither an input nor a figure */
bool wide_may_be_time(const struct csv *csv, const char *header);
extern const char wide_version_words[];
/* The unit that a line above the table names; NULL: none does. */
const char *wide_noted_unit(const struct csv *csv, struct table_name *unit);
/* The one value of a header, and its word in the singular. */
bool wide_header_split(const char *header, char word[TABLE_NAME], char number[TABLE_NAME]);
const char *wide_name_of_word(const struct csv *csv, const char *word);
static inline bool wide_is_same_measure(const struct table_name *a, const struct table_name *b) {
	return a->measure == b->measure && a->scale == b->scale && strcmp(a->per, b->per) == 0;
}
/* src: wide_numbered.c */
bool wide_numbered_find(const struct csv *csv, struct wide *wide);
/* Times or speed-ups, if the numbers of a column change with a team, with a size, or from serial to parallel code, as
 * these do and nothing else. unknown: for each column, is it one that nothing names? src: wide_laws.c */
enum table_measure wide_law(const struct csv *csv, const bool *unknown, size_t column);
bool table_is_operation(const char *name); /* "insert", "read"; src: wide_kinds.c */
/* noted: the name that the table gives, or NULL. False: the table is not wide. */
/* src: wide_kinds.c. Names what the columns are, of which each has a measure, and finds directions and parts. False: it
 * is not known. */
bool wide_kinds(const struct csv *csv, struct wide *wide, enum table_measure measure);
/* Decides what the values are, and gives the same as a table with a row for each, or, of parts, with a column for their
 * sum; lives in the arena of `csv`. src: wide_long.c */
struct csv *wide_to_long(const struct csv *csv, struct wide *wide);
bool wide_find(const struct csv *csv, const char *noted, const struct study_reading *reading, struct wide *wide);
#endif
