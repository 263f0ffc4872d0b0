/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that can be sorted, in a box of their own that scrolls. */
#ifndef SRC_CMD_REPORT_TABLE_H
#define SRC_CMD_REPORT_TABLE_H
#include <stdbool.h>
#include <stddef.h>

#include "src/cmd/report/html.h"

struct sheet {
	struct html *html;
	const char *const *titles; /* "\1" before one: numbers, to the right; "\2": several words */
	size_t columns, at;        /* at: of the next cell, SIZE_MAX before the first row */
	bool folded;
};
/* titles: NULL-terminated. */
void sheet_begin(struct sheet *sheet, struct html *html, const char *caption, const char *const *titles);
/* Shown on a click on `summary` only. */
void sheet_begin_folded(struct sheet *sheet, struct html *html, const char *summary, const char *caption,
                        const char *const *titles);
void sheet_row(struct sheet *sheet);
void sheet_text(struct sheet *sheet, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_link(struct sheet *sheet, const char *href, const char *text);
/* Sorted by value; NAN: there is none, and an empty text is shown as a dash. */
void sheet_number(struct sheet *sheet, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));
void sheet_end(struct sheet *sheet);

#endif
