/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char kind_of(const struct sheet *sheet, size_t column) {
	char first = column < sheet->columns ? sheet->titles[column][0] : '\0';
	return first == '\1' || first == '\2' ? first : '\0';
}

static bool is_number(const struct sheet *sheet, size_t column) {
	return kind_of(sheet, column) == '\1';
}

static const char *class_of(const struct sheet *sheet, size_t column) {
	char kind = kind_of(sheet, column);
	return kind == '\1' ? "number" : kind ? "words" : NULL;
}

static void head_put(struct sheet *sheet) {
	struct html *html = sheet->html;
	html_begin(html, "thead", NULL);
	html_begin(html, "tr", NULL);
	for (size_t i = 0; i < sheet->columns; i++) {
		html_begin(html, "th", "scope", "col", "class", class_of(sheet, i), NULL);
		html_text(html, sheet->titles[i] + (kind_of(sheet, i) != '\0'));
		html_end(html);
	}
	html_end(html);
	html_end(html);
}

void sheet_begin(struct sheet *sheet, struct html *html, const char *caption, const char *const *titles) {
	*sheet = (struct sheet){.html = html, .titles = titles, .at = SIZE_MAX};
	while (titles[sheet->columns])
		sheet->columns++;
	html_begin(html, "div", "class", "box", "role", "region", "tabindex", "0", "aria-label", caption, NULL);
	html_begin(html, "table", "class", "sheet", NULL);
	html_element(html, "caption", NULL, "%s", caption);
	head_put(sheet);
	html_begin(html, "tbody", NULL);
}

void sheet_begin_folded(struct sheet *sheet, struct html *html, const char *summary, const char *caption,
                        const char *const *titles) {
	html_begin(html, "details", NULL);
	html_element(html, "summary", NULL, "%s", summary);
	sheet_begin(sheet, html, caption, titles);
	sheet->folded = true;
}

void sheet_row(struct sheet *sheet) {
	if (sheet->at != SIZE_MAX)
		html_end(sheet->html);
	html_begin(sheet->html, "tr", NULL);
	sheet->at = 0;
}

static void cell_begin(struct sheet *sheet, const char *value) {
	bool names = sheet->at == 0 && !is_number(sheet, 0);
	html_begin(sheet->html, names ? "th" : "td", "scope", names ? "row" : NULL, "class", class_of(sheet, sheet->at),
	           "data-value", value, NULL);
	sheet->at++;
}

static void cell_put(struct sheet *sheet, const char *value, const char *text) {
	cell_begin(sheet, value);
	html_text(sheet->html, text);
	html_end(sheet->html);
}

void sheet_link(struct sheet *sheet, const char *href, const char *text) {
	cell_begin(sheet, NULL);
	html_begin(sheet->html, "a", "href", href, NULL);
	html_text(sheet->html, text);
	html_end(sheet->html);
	html_end(sheet->html);
}

static char *formatted(const char *format, va_list list) {
	char *text = NULL;
	if (vasprintf(&text, format, list) < 0)
		abort();
	return text;
}

void sheet_text(struct sheet *sheet, const char *format, ...) {
	va_list list;
	va_start(list, format);
	char *text = formatted(format, list);
	va_end(list);
	cell_put(sheet, NULL, text);
	free(text);
}

void sheet_number(struct sheet *sheet, double value, const char *format, ...) {
	char number[32] = "";
	va_list list;
	va_start(list, format);
	char *text = formatted(format, list);
	va_end(list);
	if (isfinite(value))
		snprintf(number, sizeof number, "%.9g", value);
	cell_put(sheet, number, *text && isfinite(value) ? text : "-");
	free(text);
}

void sheet_end(struct sheet *sheet) {
	if (sheet->at != SIZE_MAX)
		html_end(sheet->html);
	for (int i = 0; i < 3 + sheet->folded; i++) /* tbody, table, div; details */
		html_end(sheet->html);
}
