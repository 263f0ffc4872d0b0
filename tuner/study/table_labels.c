/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of words that were neither chosen nor given: remarks, names of rows, and why a row is listed again. */
#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 3, COPIES_LEAST = 3, DIGITS_LEAST = 4 };

/* Words that stand in some rows, and not twice, are remarks on these; so are numbers with words behind them beside a
 * team, "20 % faster", check marks, and pairs such as "3/17" behind the times. */
static bool are_remarks(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	size_t empty = 0, numbers = 0, marks = 0;
	bool team = false, twice = false;
	for (size_t c = 0; c < column; c++)
		team = team || (table->columns[c].role == TABLE_PARAM && table->columns[c].numbers &&
		                table_is_parameter(table->columns[c].name));
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		empty += !*cell;
		marks +=
			table_is_sign(cell) || (column > table->value && strchr(cell, '/') && !cell[strspn(cell, "0123456789/")]);
		numbers += table_is_missing(cell) || (table_digits(cell) && !strpbrk(cell, "x*") && !strstr(cell, "×"));
		twice = twice || (!table_is_missing(cell) && table_seen(csv, column, r, r));
	}
	return column > 0 && (marks == csv->rows || (!twice && (empty > 0 || (team && numbers == csv->rows))));
}

static void remarks_ignore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++)
		if (table->columns[c].role == TABLE_PARAM && !table->columns[c].numbers &&
		    !table_is_parameter(table->columns[c].name) && are_remarks(table, c))
			table->columns[c].role = TABLE_IGNORED;
}

/* Does each number that was chosen or given stand in several rows, and are there at least two such columns? */
static bool are_grid(const struct table *table) {
	const struct csv *csv = table->csv;
	size_t columns = 0;
	for (size_t c = 0; c < csv->columns; c++) {
		size_t distinct = 0;
		if (!table_is_set(&table->columns[c]) || !table->columns[c].numbers || !table_varies(csv, c))
			continue;
		for (size_t r = 0; r < csv->rows; r++)
			distinct += !table_seen(csv, c, r, r);
		if (2 * distinct > csv->rows)
			return false;
		columns++;
	}
	return columns >= 2;
}

/* Words at the left that differ in all rows, "H-1", "H-2", "W-1", are names of the rows where the other columns tell
 * what was chosen. */
static void row_names_ignore(struct table *table) {
	const struct csv *csv = table->csv;
	size_t r = 0;
	if (table->columns[0].numbers || csv->rows > TABLE_PAIRS_ROWS || csv->rows < ROWS_LEAST)
		return;
	while (r < csv->rows && !table_seen(csv, 0, r, r))
		r++;
	if (r == csv->rows && are_grid(table))
		table->columns[0].role = TABLE_IGNORED;
}

/* Do all pairs of rows that differ in this column, and in nothing else, have the same measurement to the last digit?
 * Then one was copied from the other. */
static bool are_copies(const struct table *table, size_t column) {
	size_t rows = table->csv->rows, copies = 0;
	for (size_t i = 0; i < rows * rows; i++) {
		size_t a = i / rows, b = i % rows;
		const char *one = csv_cell(table->csv, a, table->value), *other = csv_cell(table->csv, b, table->value);
		if (a >= b || table_is_same(table->csv, column, a, b) || !table_same_but(table, a, b, column))
			continue;
		if (strcmp(one, other) != 0 || strlen(one) < DIGITS_LEAST)
			return false;
		copies++;
	}
	return copies >= COPIES_LEAST;
}

/* "best" beside "thread" says why a row is listed again. */
static void copies_ignore(struct table *table) {
	for (size_t c = 0; c < table->csv->columns && table->csv->rows <= TABLE_PAIRS_ROWS; c++) {
		struct table_column *column = &table->columns[c];
		if (table_is_set(column) && !column->numbers && are_copies(table, c))
			column->role = TABLE_IGNORED;
	}
}

void table_labels_ignore(struct table *table) {
	remarks_ignore(table);
	row_names_ignore(table);
	copies_ignore(table);
}
