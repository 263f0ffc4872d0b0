/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes HTML. Texts and attribute values are escaped here. Unescaped markup is a constant of this program or a chart,
 * which escapes its own texts. */
#ifndef SRC_CMD_REPORT_HTML_H
#define SRC_CMD_REPORT_HTML_H
#include "src/show/columns.h"

struct html;
struct html *html_new(void);
void html_free(struct html *html);

/* The format is markup, and what its directives write is text: it is escaped, and invalid UTF-8 and control characters
 * other than newlines and tabs become U+FFFD. It has %s, %c, %d, %u, %e, %f, %g, and their forms with ll and z. */
void html_put(struct html *html, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Begins an element; its attributes follow as names and values, ended by NULL. An attribute with a NULL value is
 * omitted. */
void html_begin(struct html *html, const char *tag, ...) __attribute__((sentinel));

void html_markup(struct html *html, const char *markup); /* as it is */
/* Hands over the whole page, which the caller frees. */
char *html_finish(struct html *html, size_t *size);

/* HTML tables that the reader can sort, each in a box that scrolls. */

struct html_table {
	struct html *html;
	const char *const *titles; /* the prefix "\1" marks a column of numbers, "\2" one of several words */
	size_t columns, at;        /* at: column of the next cell, SIZE_MAX before the first row */
	bool folded;
};
/* summary: the table is hidden until the reader clicks on it; NULL: it is not. titles: NULL-terminated. */
struct html_table html_table_begin(struct html *html, const char *summary, const char *caption,
                                   const char *const *titles);
void html_table_row(struct html_table *table);
void html_table_text(struct html_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A cell with markup inside, which the caller writes in between. It is sorted by its value, INFINITY if that is not
 * known, or by its text if it is NAN. */
void html_table_cell(struct html_table *table, double value);
void html_table_cell_end(struct html_table *table);
/* A cell that is sorted by its value. NAN means unknown; then, or if the text is empty, the cell shows a dash. */
void html_table_number(struct html_table *table, double value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void html_table_end(struct html_table *table);
/* Writes the whole table of a document, or nothing if it has no rows. summary: the line of a folded table, or NULL. */
void html_rows(struct html *html, const char *summary, const char *caption, const struct column *columns,
               const json_t *rows);

/* The frame of the page: a single file whose security policy allows only its own style and script. */
/* Up to and including <body>. live: the page takes over what later versions of its file have in <main>. */
void page_begin(struct html *html, const char *title, bool live);
void page_end(struct html *html);
#endif
