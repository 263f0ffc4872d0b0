/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people write them become numbers: marks of thousands, minutes and seconds, the sides of a square, and the
 * word "serial" among numbers of threads. */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "tuner/study/study_table_impl.h"

const char table_serial_words[] = "serial sequential seq seriell sequentiell sequenziell";

/* A blank or an apostrophe can only be a mark of thousands; a point or a comma may also begin a fraction. */
struct style {
	char mark, point;
};
static const struct style styles[] = {{',', '.'}, {'.', ','}, {' ', '.'}, {' ', ','}, {'\'', '.'}, {'\'', ','}};
enum { STYLES = sizeof styles / sizeof *styles, GROUP = 3 };

/* The length of a mark at this position, 0 if there is none. Narrow blanks and typographic apostrophes count. */
static size_t mark_length(const char *at, char mark) {
	static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};
	static const char *const quotes[] = {"'", "\xe2\x80\x99"};
	for (size_t i = 0; i < 4 && mark == ' '; i++)
		if (strncmp(at, blanks[i], strlen(blanks[i])) == 0)
			return strlen(blanks[i]);
	for (size_t i = 0; i < 2 && mark == '\''; i++)
		if (strncmp(at, quotes[i], strlen(quotes[i])) == 0)
			return strlen(quotes[i]);
	return *at == mark && *at != '\0';
}

static size_t digits(const char *at) {
	return strspn(at, "0123456789");
}

/* Reads a number of this style into `out`; false if it is none. Sets how many marks it has, and whether a fraction. */
static bool styled_read(const char *cell, struct style style, char out[CSV_FIELD_MAX + 1], size_t *marks,
                        bool *fraction) {
	size_t count = digits(cell), length = 0, mark;
	*marks = 0;
	*fraction = false;
	if (count == 0)
		return false;
	memcpy(out, cell, length = count);
	cell += count;
	for (; count <= GROUP && (mark = mark_length(cell, style.mark)) > 0 && digits(cell + mark) == GROUP; ++*marks) {
		memcpy(out + length, cell + mark, GROUP);
		length += GROUP;
		cell += mark + GROUP;
	}
	if (*cell == style.point && digits(cell + 1)) {
		*fraction = true;
		length += (size_t)snprintf(out + length, CSV_FIELD_MAX - length, ".%.*s", (int)digits(cell + 1), cell + 1);
		cell += 1 + digits(cell + 1);
	}
	out[length] = '\0';
	return *cell == '\0';
}

/* Are all cells of the column numbers of this style, and do some of them leave no other? "12,400" may be 12.4. */
static bool is_style(const struct csv *csv, size_t column, struct style style) {
	bool sure = false;
	for (size_t r = 0; r < csv->rows; r++) {
		char out[CSV_FIELD_MAX + 1];
		size_t marks;
		bool fraction;
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell))
			continue;
		if (!styled_read(cell, style, out, &marks, &fraction))
			return false;
		bool only = style.mark == ' ' || style.mark == '\'';
		sure = sure || marks > 1 || (marks && (fraction || only));
	}
	return sure;
}

static void thousands_rewrite(struct csv *csv, size_t column) {
	for (size_t i = 0; i < STYLES; i++) {
		if (!is_style(csv, column, styles[i]))
			continue;
		for (size_t r = 0; r < csv->rows; r++) {
			char out[CSV_FIELD_MAX + 1];
			size_t marks;
			bool fraction;
			if (styled_read(csv_cell(csv, r, column), styles[i], out, &marks, &fraction))
				csv->cells[r * csv->columns + column] = arena_strdup(csv->arena, out);
		}
		return;
	}
}

/* "1:23.7" is 83.7 seconds, and "1:02:03" has hours. False if it is not such a time. */
static bool clock_read(const char *cell, double *seconds) {
	char copy[CSV_FIELD_MAX + 1], *at = copy, *end;
	size_t colons = 0;
	snprintf(copy, sizeof copy, "%s", cell);
	for (*seconds = 0; digits(at) && at[digits(at)] == ':'; at += digits(at) + 1, colons++) {
		if (colons && digits(at) != 2)
			return false;
		*seconds = 60 * (*seconds + strtod(at, NULL));
	}
	if (colons == 0 || colons > 2 || digits(at) != 2)
		return false;
	if (at[2] == ',')
		at[2] = '.';
	*seconds += strtod(at, &end);
	return *end == '\0';
}

static void clocks_rewrite(struct csv *csv, size_t column) {
	struct table_name name;
	double seconds;
	table_name_read(csv->header[column], &name);
	if (table_time_rank(&name) < 0 || name.scale != 1)
		return;
	for (size_t r = 0; r < csv->rows; r++)
		if (!table_is_missing(csv_cell(csv, r, column)) && !clock_read(csv_cell(csv, r, column), &seconds))
			return;
	for (size_t r = 0; r < csv->rows; r++)
		if (clock_read(csv_cell(csv, r, column), &seconds))
			csv->cells[r * csv->columns + column] = arena_printf(csv->arena, "%.9g", seconds);
}

size_t table_side(const char *text, size_t *length) {
	size_t side = digits(text), at = side, times = 1;
	while (side && side < 10 && (text[at] == 'x' || text[at] == 'X') && digits(text + at + 1) == side &&
	       strncmp(text, text + at + 1, side) == 0) {
		at += side + 1;
		times++;
	}
	*length = at;
	return times > 1 && !isalnum((unsigned char)text[at]) ? side : 0;
}

/* A size "512x512" is 512, so that times can follow it. The shape of a block stays as it is. */
static void squares_rewrite(struct csv *csv, size_t column) {
	size_t length;
	if (!table_is_problem(csv->header[column]))
		return;
	for (size_t r = 0; r < csv->rows; r++)
		if (!table_side(csv_cell(csv, r, column), &length) || csv_cell(csv, r, column)[length])
			return;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		csv->cells[r * csv->columns + column] = arena_printf(csv->arena, "%.*s", (int)table_side(cell, &length), cell);
	}
}

static bool is_serial_word(const char *cell) {
	return table_among(cell, strlen(cell), table_serial_words);
}

/* Is it a column of teams in which serial code has a word instead of a number? */
static bool has_serial_cells(const struct csv *csv, size_t column) {
	double number;
	size_t words = 0, numbers = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		words += is_serial_word(cell);
		numbers += table_number(csv, cell, false, &number);
	}
	return words && numbers && words + numbers == csv->rows && table_is_team(csv->header[column]);
}

/* The word moves to a column of its own, so that the numbers are numbers. */
static void serial_split(struct csv *csv, size_t column) {
	static const char *const names[] = {"code", "program"};
	size_t columns = csv->columns, name = 0;
	for (size_t c = 0; c < columns; c++)
		name += name < 2 && strcasecmp(csv->header[c], names[name]) == 0;
	if (name == 2 || columns == CSV_COLUMNS_MAX)
		return;
	const char **header = arena_alloc(csv->arena, columns + 1, sizeof *header);
	const char **cells = mem_alloc(csv->rows * (columns + 1) + 1, sizeof *cells);
	memcpy(header, csv->header, columns * sizeof *header);
	header[columns] = names[name];
	for (size_t r = 0; r < csv->rows; r++) {
		const char **row = cells + r * (columns + 1);
		memcpy(row, csv->cells + r * columns, columns * sizeof *row);
		row[columns] = is_serial_word(row[column]) ? "serial" : "parallel";
		row[column] = is_serial_word(row[column]) ? "" : row[column];
	}
	free(csv->cells);
	csv->header = header;
	csv->cells = cells;
	csv->columns = columns + 1;
}

void table_cells_rewrite(struct csv *csv) {
	for (size_t c = 0; c < csv->columns; c++) {
		thousands_rewrite(csv, c);
		clocks_rewrite(csv, c);
		squares_rewrite(csv, c);
	}
	for (size_t c = 0; c < csv->columns; c++)
		if (has_serial_cells(csv, c)) {
			serial_split(csv, c);
			return;
		}
}
