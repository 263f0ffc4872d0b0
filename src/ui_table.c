/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/ui.h"

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
	for (size_t c = 0; c < table->columns; c++)
		table->cells[table->rows * table->columns + c] = mem_strdup(texts[c]);
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

/* Columns that UTF-8 text takes on a terminal; our texts have no wide or combining characters. */
static int text_width(const char *text) {
	int width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xC0) != 0x80;
	return width;
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
	while (room && total - 2 > room) { /* the widest column of text gives way */
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

static void cell_print(const char *text, int width, bool right, bool last, FILE *out) {
	int pad = width - text_width(text);
	if (right && pad > 0)
		fprintf(out, "%*s", pad, "");
	for (int shown = 0; *text; text++) { /* hostile names must not steer the terminal */
		if (((unsigned char)*text & 0xC0) != 0x80 && shown++ == width)
			break;
		fputc(iscntrl((unsigned char)*text) ? '?' : *text, out);
	}
	if (!right && !last && pad > 0)
		fprintf(out, "%*s", pad, "");
	fputs(last ? "\n" : "  ", out);
}

void table_print(struct table *table, const struct ui *ui, FILE *out) {
	int *width = widths(table, ui_width(out));
	for (size_t r = 0; r < table->rows; r++) {
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
