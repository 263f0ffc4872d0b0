/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/report_table_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static char kind_of(const struct html_table *table, size_t column) {
	char first = column < table->columns ? table->titles[column][0] : '\0';
	return first == '\1' || first == '\2' ? first : '\0';
}

static bool is_number(const struct html_table *table, size_t column) {
	return kind_of(table, column) == '\1';
}

static const char *class_of(const struct html_table *table, size_t column) {
	char kind = kind_of(table, column);
	return kind == '\1' ? "number" : kind ? "words" : NULL;
}

/* A table with more columns becomes a list of rows on a narrow screen, where each cell is named. */
enum { NARROW = 3 };

static const char *label_of(const struct html_table *table, size_t column) {
	if (table->columns <= NARROW || column >= table->columns)
		return NULL;
	return table->titles[column] + (kind_of(table, column) != '\0');
}

static void head_put(struct html_table *table) {
	struct html *html = table->html;
	html_begin(html, "thead", NULL);
	html_begin(html, "tr", NULL);
	for (size_t i = 0; i < table->columns; i++) {
		html_begin(html, "th", "scope", "col", "class", class_of(table, i), NULL);
		html_text(html, table->titles[i] + (kind_of(table, i) != '\0'));
		html_end(html);
	}
	html_end(html);
	html_end(html);
}

void html_table_begin(struct html_table *table, struct html *html, const char *caption, const char *const *titles) {
	*table = (struct html_table){.html = html, .titles = titles, .at = SIZE_MAX};
	while (titles[table->columns])
		table->columns++;
	html_begin(html, "div", "class", "box", "role", "region", "tabindex", "0", "aria-label", caption, NULL);
	html_begin(html, "table", "class", table->columns > NARROW ? "sortable wide" : "sortable", NULL);
	html_element(html, "caption", NULL, "%s", caption);
	head_put(table);
	html_begin(html, "tbody", NULL);
}

void html_table_begin_folded(struct html_table *table, struct html *html, const char *summary, const char *caption,
                             const char *const *titles) {
	html_begin(html, "details", NULL);
	html_element(html, "summary", NULL, "%s", summary);
	html_table_begin(table, html, caption, titles);
	table->folded = true;
}

void html_table_row(struct html_table *table) {
	if (table->at != SIZE_MAX)
		html_end(table->html);
	html_begin(table->html, "tr", NULL);
	table->at = 0;
}

static void cell_begin(struct html_table *table, const char *value) {
	bool names = table->at == 0 && !is_number(table, 0);
	html_begin(table->html, names ? "th" : "td", "scope", names ? "row" : NULL, "class", class_of(table, table->at),
	           "data-value", value, "data-label", label_of(table, table->at), NULL);
	table->at++;
}

static void cell_put(struct html_table *table, const char *value, const char *text) {
	cell_begin(table, value);
	html_text(table->html, text);
	html_end(table->html);
}

void html_table_link(struct html_table *table, const char *href, const char *text) {
	cell_begin(table, NULL);
	html_begin(table->html, "a", "href", href, NULL);
	html_text(table->html, text);
	html_end(table->html);
	html_end(table->html);
}

void html_table_text(struct html_table *table, const char *format, ...) {
	va_list list;
	va_start(list, format);
	char *text = mem_vprintf(format, list);
	va_end(list);
	cell_put(table, NULL, text);
	free(text);
}

void html_table_number(struct html_table *table, double value, const char *format, ...) {
	char number[32] = "";
	va_list list;
	va_start(list, format);
	char *text = mem_vprintf(format, list);
	va_end(list);
	if (isfinite(value))
		snprintf(number, sizeof number, "%.9g", value);
	cell_put(table, number, *text && isfinite(value) ? text : "-");
	free(text);
}

void html_table_end(struct html_table *table) {
	if (table->at != SIZE_MAX)
		html_end(table->html);
	for (int i = 0; i < 3 + table->folded; i++) /* tbody, table, div; details */
		html_end(table->html);
}
