/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that follow from others by arithmetic, and columns that were chosen by where they stand. */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 3, COLUMNS_MOST = 24 };
static const double NEAR = 1e-9;

bool table_is_before_team(const struct csv *csv, size_t column) {
	bool before = false, whole = true;
	for (size_t r = 0; r < csv->rows && whole; r++)
		whole = table_amount(csv, r, column) == floor(table_amount(csv, r, column));
	for (size_t c = column + 1; c < csv->columns; c++)
		before = before || (table_is_team(csv->header[c]) && isfinite(table_amount(csv, 0, c)));
	return whole && before && !table_has_word(csv->header[column], "time t") &&
	       !table_has_word(csv->header[column], table_serial_words);
}

/* Is a column everywhere one over another, and perhaps over a third, rounded up? */
static bool is_quotient(const struct csv *csv, size_t column, size_t over, size_t under, size_t third) {
	size_t r = 0;
	while (r < csv->rows &&
	       table_amount(csv, r, column) == ceil(table_amount(csv, r, over) / table_amount(csv, r, under) /
	                                                (third == column ? 1 : table_amount(csv, r, third)) -
	                                            NEAR))
		r++;
	return r == csv->rows;
}

static bool is_input(const struct table *table, size_t column) {
	const struct table_column *own = &table->columns[column];
	return own->numbers && own->read.measure == MEASURE_NONE &&
	       (table_is_team(own->name) || (!table_is_figure(own->name) && !table_is_counter(own->name)));
}

static bool is_block(const char *name) { /* and no number of them */
	return (strcasestr(name, "block") && !strcasestr(name, "blocks")) ||
	       (strcasestr(name, "tile") && !strcasestr(name, "tiles"));
}

/* "GridX" that is N over "BlockX", "nxl" that is nxg over px, and "px" that is the number of processes over "py". Of
 * two that give each other the size of a block stays, or else the first one. */
bool table_is_derived(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	bool derived = false,
		 usual = csv->rows >= ROWS_LEAST && csv->rows <= TABLE_PAIRS_ROWS && csv->columns <= COLUMNS_MOST;
	if (!usual || !is_input(table, column) || table_is_team(table->columns[column].name) || !table_varies(csv, column))
		return false;
	for (size_t i = 0; i < csv->columns * csv->columns && !derived; i++) {
		size_t over = i / csv->columns, under = i % csv->columns;
		bool team = table_is_team(table->columns[over].name) || table_is_team(table->columns[under].name);
		bool given =
			team || is_block(table->columns[under].name) || (under < column && !is_block(table->columns[column].name));
		if (over == column || under == column || over == under || !given || !is_input(table, over) ||
		    !is_input(table, under) || !table_varies(csv, under))
			continue;
		for (size_t third = 0; third < csv->columns && !derived; third++)
			derived = (third == column || (table_is_team(table->columns[over].name) && third != over &&
			                               third != under && is_input(table, third))) &&
			          is_quotient(csv, column, over, under, third);
	}
	return derived;
}
