/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HTML tables that the reader can sort, each in a box that scrolls. */
#ifndef SRC_CMD_REPORT_REPORT_TABLE_IMPL_H
#define SRC_CMD_REPORT_REPORT_TABLE_IMPL_H
#include <stdbool.h>
#include <stddef.h>

#include "src/cmd/report/html.h"

struct html_table {
	struct html *html;
	const char *const *titles; /* the prefix "\1" marks a column of numbers, "\2" one of several words */
	size_t columns, at;        /* at: column of the next cell, SIZE_MAX before the first row */
	bool folded;
};
/* titles: NULL-terminated. */
void html_table_begin(struct html_table *table, struct html *html, const char *caption, const char *const *titles);
/* The table is hidden until the reader clicks on `summary`. */
void html_table_begin_folded(struct html_table *table, struct html *html, const char *summary, const char *caption,
                             const char *const *titles);
void html_table_row(struct html_table *table);
void html_table_text(struct html_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_table_link(struct html_table *table, const char *href, const char *text);
/* A cell that is sorted by its value. NAN means unknown; then, or if the text is empty, the cell shows a dash. */
void html_table_number(struct html_table *table, double value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void html_table_end(struct html_table *table);

#endif
