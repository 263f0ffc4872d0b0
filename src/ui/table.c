/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/ui/ui.h"

struct table {
	size_t columns, rows, room;
	char **cells; /* row by row; row 0 holds the titles */
	bool *right;
};

void table_row(struct table *table, const char *const *texts) {
	if (table->rows == table->room) {
		table->room = table->room ? 2 * table->room : 16;
		table->cells = mem_grow(table->cells, table->room * table->columns, sizeof *table->cells);
	}
	for (size_t c = 0; c < table->columns; c++) {
		char *copy = mem_strdup(texts[c]);
		text_clean(copy, false); /* hostile names must not steer the terminal */
		table->cells[table->rows * table->columns + c] = copy;
	}
	table->rows++;
}

struct table *table_new(size_t columns, const char *const *titles) {
	struct table *table = mem_alloc(1, sizeof *table);
	table->columns = columns;
	table->right = mem_alloc(columns, sizeof *table->right);
	table_row(table, titles);
	return table;
}

void table_right(struct table *table, size_t column) {
	table->right[column] = true;
}

void table_add(struct table *table, ...) {
	const char **texts = mem_alloc(table->columns, sizeof *texts);
	va_list ap;
	va_start(ap, table);
	for (size_t c = 0; c < table->columns; c++)
		texts[c] = va_arg(ap, const char *);
	va_end(ap);
	table_row(table, texts);
	free(texts);
}

static int text_width(const char *text) {
	return ui_columns(text, strlen(text));
}

static const char *cell(const struct table *table, size_t row, size_t column) {
	return table->cells[row * table->columns + column];
}

static int *widths(const struct table *table, int room) {
	int *width = mem_alloc(table->columns, sizeof *width), total = 0;
	for (size_t c = 0; c < table->columns; c++) {
		for (size_t r = 0; r < table->rows; r++)
			if (text_width(cell(table, r, c)) > width[c])
				width[c] = text_width(cell(table, r, c));
		total += width[c] + 2;
	}
	while (room && total - 2 > room) { /* shrink the widest column of text */
		size_t widest = table->columns;
		for (size_t c = 0; c < table->columns; c++)
			if (!table->right[c] && width[c] > 12 && (widest == table->columns || width[c] > width[widest]))
				widest = c;
		if (widest == table->columns)
			break;
		width[widest]--;
		total--;
	}
	return width;
}

/* Text that is too wide is cut and ends in an ellipsis. */
static void cell_print(const char *text, int width, bool right, bool last, FILE *out) {
	bool cut = text_width(text) > width;
	size_t fits = ui_fitting(text, strlen(text), cut ? width - 1 : width);
	int pad = width - ui_columns(text, fits) - cut;
	if (right && pad > 0)
		fprintf(out, "%*s", pad, "");
	fprintf(out, "%.*s%s", (int)fits, text, !cut ? "" : ui_utf8() ? "…" : "~");
	if (!right && !last && pad > 0)
		fprintf(out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", out);
}

static bool is_too_wide(const struct table *table, const int *width, int room) {
	int total = -2;
	for (size_t c = 0; c < table->columns; c++)
		total += width[c] + 2;
	return room && total > room;
}

/* Prints one line for each cell that is not empty, and an empty line between rows. */
static void narrow_print(const struct table *table, const struct ui *ui, FILE *out) {
	int label = 0;
	for (size_t c = 0; c < table->columns; c++)
		label = text_width(cell(table, 0, c)) > label ? text_width(cell(table, 0, c)) : label;
	for (size_t r = 1; r < table->rows; r++) {
		if (r > 1)
			fputc('\n', out);
		for (size_t c = 0; c < table->columns; c++) {
			const char *title = cell(table, 0, c);
			if (!*cell(table, r, c))
				continue;
			fprintf(out, "%s%s%s%*s", ui_style(ui, UI_BOLD), title, ui_style(ui, UI_PLAIN),
			        label - text_width(title) + 1, "");
			ui_wrap_on(out, label + 1, label + 1, cell(table, r, c));
		}
	}
}

void table_print(struct table *table, const struct ui *ui, FILE *out) {
	int room = ui_width(out), *width = widths(table, room);
	bool narrow = is_too_wide(table, width, room);
	if (narrow)
		narrow_print(table, ui, out);
	for (size_t r = 0; !narrow && r < table->rows; r++) {
		if (r == 0)
			fputs(ui_style(ui, UI_BOLD), out);
		for (size_t c = 0; c < table->columns; c++)
			cell_print(cell(table, r, c), width[c], table->right[c], c + 1 == table->columns, out);
		if (r == 0)
			fputs(ui_style(ui, UI_PLAIN), out);
	}
	free(width);
}

void table_free(struct table *table) {
	if (!table)
		return;
	for (size_t i = 0; i < table->rows * table->columns; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->right);
	free(table);
}
