/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program shows: tables, bars, units, a progress line. Plain when piped or NO_COLOR is set. */
#ifndef SRC_UI_UI_H
#define SRC_UI_UI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/base/err.h"

struct ui; /* one per process, made by main */
struct ui *ui_new(FILE *out, FILE *diagnostics, bool quiet, bool verbose);
void ui_free(struct ui *ui);

int ui_width(FILE *stream); /* columns of a terminal, 0 when piped */

/* Columns of well-formed text, and how many bytes of it fit into some. */
int ui_columns(const char *text, size_t size);
size_t ui_fitting(const char *text, size_t size, int columns);
bool ui_utf8(void); /* the locale's */

enum ui_style { UI_PLAIN, UI_BOLD, UI_DIM, UI_GOOD, UI_BAD, UI_NOTE };
const char *ui_style(const struct ui *ui, enum ui_style style); /* escape sequence for stdout or "" */

/* A table: columns aligned (numbers right), fitted to the terminal's width, or a line for each cell where that is too
 * narrow; cells are copied, and made safe for a terminal. */
struct table;
struct table *table_new(size_t columns, const char *const *titles);
void table_right(struct table *table, size_t column);          /* right-aligned */
void table_add(struct table *table, ...);                      /* `columns` strings */
void table_row(struct table *table, const char *const *texts); /* the same from an array */
void table_print(struct table *table, const struct ui *ui, FILE *out);
void table_free(struct table *table);

void ui_seconds(double seconds, char *text, size_t size);         /* "1.23 ms" */
void ui_bytes(double bytes, char *text, size_t size);             /* "32 MiB" */
void ui_bar(double fraction, int width, char *text, size_t size); /* a bar of UTF-8 blocks, '#' without UTF-8 */

/* Words in lines of at most the terminal's width, in one line where there is no terminal: `first`
 * columns before the first line, `indent` before the others. */
void ui_wrap(FILE *out, int first, int indent, const char *text);
/* A command to copy: never broken. */
void ui_fix(FILE *out, int indent, const char *command);
void ui_wrap_on(FILE *out, int first, int indent, const char *text); /* `first` columns are there already */

int ui_progress_width(const struct ui *ui); /* columns of the next one, 0: no end */
/* One line on stderr that rewrites itself on a terminal; silent when stderr is piped (then a line every 30 s). */
void ui_progress(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_progress_end(struct ui *ui);
void ui_note(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3))); /* stderr, with --verbose */
/* stderr, with --verbose: a line on what goes on. */
void ui_step(struct ui *ui, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_warn(struct ui *ui, const char *hint, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
