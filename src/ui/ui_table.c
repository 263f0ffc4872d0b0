/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "base/text.h"
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
	const char **shown = mem_alloc(columns, sizeof *shown);
	for (size_t c = 0; c < columns; c++) {
		table->right[c] = titles[c] && titles[c][0] == '\1';
		shown[c] = table->right[c] ? titles[c] + 1 : titles[c];
	}
	table_row(table, shown);
	free(shown);
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

/* A column without any text says nothing. */
static bool is_empty(const struct table *table, size_t column) {
	for (size_t r = 1; r < table->rows; r++)
		if (*cell(table, r, column))
			return false;
	return table->rows > 1;
}

/* Bars only repeat a number, so they may go where they do not fit. */
static bool is_bar(const struct table *table, size_t column) {
	return column > 0 && !*cell(table, 0, column);
}

static int total_of(const struct table *table, const int *width) {
	int total = -2;
	for (size_t c = 0; c < table->columns; c++)
		total += width[c] ? width[c] + 2 : 0;
	return total;
}

/* The width of each column; 0: it is left out. */
static int *widths(const struct table *table, int room) {
	int *width = mem_alloc(table->columns, sizeof *width);
	for (size_t c = 0; c < table->columns; c++)
		for (size_t r = 0; r < table->rows && !is_empty(table, c); r++)
			if (text_width(cell(table, r, c)) > width[c])
				width[c] = text_width(cell(table, r, c));
	for (size_t c = 0; room && total_of(table, width) > room && c < table->columns; c++)
		width[c] = is_bar(table, c) ? 0 : width[c];
	while (room && total_of(table, width) > room) { /* fold the widest column of text */
		size_t widest = table->columns;
		for (size_t c = 0; c < table->columns; c++)
			if (!table->right[c] && width[c] > 12 && (widest == table->columns || width[c] > width[widest]))
				widest = c;
		if (widest == table->columns)
			break;
		width[widest]--;
	}
	return width;
}

/* The bytes of the text that go into the first line of a cell: up to a blank if there is one. */
static size_t piece(const char *text, int width) {
	size_t size = strlen(text), fits = ui_fitting(text, size, width);
	if (fits == size)
		return size;
	for (size_t at = fits; at > 0; at--)
		if (text[at] == ' ')
			return at;
	return fits ? fits : 1;
}

/* Prints the next piece of a cell and moves on to the rest. */
static void cell_print(const char **text, int width, bool right, bool last, FILE *out) {
	size_t size = piece(*text, width);
	int pad = width - ui_columns(*text, size);
	if (right && pad > 0)
		fprintf(out, "%*s", pad, "");
	fprintf(out, "%.*s", (int)size, *text);
	if (!right && !last && pad > 0)
		fprintf(out, "%*s", pad, "");
	fputs(last ? "" : "  ", out);
	*text += size;
	*text += strspn(*text, " ");
}

/* A row takes as many lines as its longest cell. */
static void row_print(const struct table *table, const int *width, size_t row, FILE *out) {
	const char **rest = mem_alloc(table->columns, sizeof *rest);
	size_t last = 0;
	for (size_t c = 0; c < table->columns; c++) {
		rest[c] = cell(table, row, c);
		last = width[c] ? c : last;
	}
	for (bool more = true; more;) {
		more = false;
		for (size_t c = 0; c < table->columns; c++) {
			if (!width[c])
				continue;
			cell_print(&rest[c], width[c], table->right[c], c == last, out);
			more = more || *rest[c];
		}
		fputc('\n', out);
	}
	free(rest);
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
			ui_wrap_on(out, label + 1, label + 1, "%s", cell(table, r, c));
		}
	}
}

void table_print(struct table *table, const struct ui *ui, FILE *out) {
	int room = ui_room(ui, out), *width = widths(table, room);
	bool narrow = room && total_of(table, width) > room;
	if (narrow)
		narrow_print(table, ui, out);
	for (size_t r = 0; !narrow && r < table->rows; r++) {
		if (r == 0)
			fputs(ui_style(ui, UI_BOLD), out);
		row_print(table, width, r, out);
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

void table_end(struct table *table, const struct ui *ui, FILE *out) {
	table_print(table, ui, out);
	table_free(table);
}
