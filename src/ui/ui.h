/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output for people: tables, bars, units, a progress line. It is plain when piped or if NO_COLOR is set. */
#ifndef SRC_UI_UI_H
#define SRC_UI_UI_H

#include "base/err.h"
#include "base/text.h"

struct ui; /* one per process, made by main */
struct ui *ui_new(FILE *out, FILE *diagnostics, bool quiet, bool verbose);
void ui_free(struct ui *ui);

int ui_width(FILE *stream); /* columns of a terminal, 0 when piped */
/* Prints lines, folded at the width of the terminal; nothing is cut. */
void ui_fold(FILE *out, const char *text);

/* The same for an error and its hint, except that a command in the hint stays one line, to be copied. */
void ui_error(FILE *out, const struct err *err);

/* The columns that text occupies, and the number of its bytes that fit into `columns`. */
int ui_columns(const char *text, size_t size);
size_t ui_fitting(const char *text, size_t size, int columns);

enum ui_style { UI_PLAIN, UI_BOLD, UI_DIM, UI_GOOD, UI_BAD, UI_NOTE };
const char *ui_style(const struct ui *ui, enum ui_style style); /* escape sequence for stdout or "" */

/* A table with aligned columns, fitted to the width of the terminal; if that is too narrow, one line for each cell.
 * Cells are copied and made safe for a terminal. */
struct table;
struct table *table_new(size_t columns, const char *const *titles); /* a title that begins with "\1": right-aligned */
struct table *table_titled(const char *title, ...)
	__attribute__((sentinel));                                 /* the same from a list that ends with NULL */
void table_right(struct table *table, size_t column);          /* right-aligned */
void table_add(struct table *table, ...);                      /* `columns` strings */
void table_row(struct table *table, const char *const *texts); /* the same from an array */
void table_print(struct table *table, const struct ui *ui, FILE *out);
void table_free(struct table *table);
void table_end(struct table *table, const struct ui *ui, FILE *out); /* prints and frees it */

struct shown ui_seconds(double seconds);                          /* "1.23 ms" */
struct shown ui_bytes(double bytes);                              /* "32 MiB" */
void ui_bar(double fraction, int width, char *text, size_t size); /* a bar of UTF-8 blocks, '#' without UTF-8 */

/* Wraps text at the width of the terminal, or prints one line if there is no terminal. The first line is indented by
 * `first` columns, the others by `indent`. */
void ui_wrap(FILE *out, int first, int indent, const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Prints a command to copy, which is never wrapped. */
void ui_fix(FILE *out, int indent, const char *command);
/* The same, continuing a line that already has `first` columns. */
void ui_wrap_on(FILE *out, int first, int indent, const char *format, ...) __attribute__((format(printf, 4, 5)));

int ui_progress_width(const struct ui *ui); /* columns available to the progress line; 0 means unlimited */
/* One line on stderr that rewrites itself on a terminal; when stderr is piped, a line every 30 s. */
void ui_progress(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_progress_end(struct ui *ui);
bool ui_verbose(const struct ui *ui);
void ui_note(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3))); /* stderr, with --verbose */
/* stderr, always: a fact that the user should know before waiting for the result. */
void ui_inform(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* stderr, with --verbose: a line about the current step. */
void ui_step(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_warn(struct ui *ui, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
