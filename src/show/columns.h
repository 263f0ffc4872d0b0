/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of documents, described by their columns. They are printed for a terminal here, and as HTML by html_rows. */
#ifndef SRC_SHOW_COLUMNS_H
#define SRC_SHOW_COLUMNS_H
#include "src/ui/ui.h"
#include "tuner/result/result.h"

struct column {
	const char *title;  /* "\1" begins that of numbers, "\2" that of several words */
	const char *path;   /* of the member of a row (js_at); "": the row; NULL: its number, counted from 1 */
	const char *format; /* of a number, which is multiplied by the factor; NULL: a text */
	double factor;
	char *(*text)(const json_t *value); /* the caller frees it */
	const char *by;                     /* path of the number by which rows are sorted; NULL: the member itself */
	const char *words[2];               /* of false and true */
	const char *absent;                 /* NULL: "-" */
};

/* COLUMN("level", "level", .absent = "?"), NUMBER("\1share", "share", "%.3g %%", 100) */
#define COLUMN(name, member, ...)                                                                                      \
	{ .title = name, .path = member, ##__VA_ARGS__ }
#define NUMBER(name, member, form, times)                                                                              \
	{ .title = name, .path = member, .format = form, .factor = times }

/* The text of a cell, which the caller frees. *number: NAN if it is not a number. */
char *column_text(const struct column *column, const json_t *row, size_t at, double *number);
/* columns: they end with one without a title. Without rows nothing is printed. */
void columns_print(struct ui *ui, const struct column *columns, const json_t *rows, FILE *out);

char *column_config(const json_t *value);  /* "threads=2 block=64" */
char *column_problem(const json_t *value); /* that of a program is its command */
char *column_age(const json_t *seconds);   /* "3 days ago" */
char *column_bytes(const json_t *value);
char *column_seconds(const json_t *value);
char *column_plain(const json_t *value); /* a string as it is, else JSON; "none" for null */

/* Figures that kernels report about their runs in addition to the time. */
/* "figures" of a trial, one per line. */
void figures_print(const json_t *figures, FILE *out);
/* "series" of a trial: one line per step, one column per series. */
void figures_series_print(const json_t *series, FILE *out);
/* The figure of this name with its unit, for a cell; "-" if it is missing. */
void figures_cell(const json_t *figures, const char *name, char *text, size_t size);
#endif
