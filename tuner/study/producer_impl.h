/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of other programs: a producer is recognised by the names in its header or its first bytes, and one line of a
 * table tells what each of its columns is. */
#ifndef TUNER_STUDY_PRODUCER_IMPL_H
#define TUNER_STUDY_PRODUCER_IMPL_H
#include "tuner/study/study_table_impl.h"

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

/* A table under construction, of cells under names. src: producer_grid.c */
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
/* ncu writes a row for each metric of a launch: the same with a row for each launch, and units behind the values. NULL:
 * the table is not so. */
struct csv *producer_pivot(const struct csv *csv);

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
#endif
