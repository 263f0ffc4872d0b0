/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that can be sorted, in a box of their own that scrolls. */
#ifndef SRC_CMD_REPORT_TABLE_H
#define SRC_CMD_REPORT_TABLE_H
#include <stdbool.h>
#include <stddef.h>

#include "src/cmd/report/html.h"

struct html_table {
	struct html *html;
	const char *const *titles; /* "\1" before one: numbers, to the right; "\2": several words */
	size_t columns, at;        /* at: of the next cell, SIZE_MAX before the first row */
	bool folded;
};
/* titles: NULL-terminated. */
void html_table_begin(struct html_table *table, struct html *html, const char *caption, const char *const *titles);
/* Shown on a click on `summary` only. */
void html_table_begin_folded(struct html_table *table, struct html *html, const char *summary, const char *caption,
                             const char *const *titles);
void html_table_row(struct html_table *table);
void html_table_text(struct html_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_table_link(struct html_table *table, const char *href, const char *text);
/* Sorted by value; NAN: there is none, and an empty text is shown as a dash. */
void html_table_number(struct html_table *table, double value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void html_table_end(struct html_table *table);

#endif
