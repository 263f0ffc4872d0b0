/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that lack names: the first measurement stands in the line of names, the first column has none, or a unit
 * stands alone; and columns of changes, which no name may call times. */
#include <math.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 2 };
static const double NEAR = 0.01;

/* Is this "283ms", a time with its unit and nothing else? */
static bool is_timed(const char *cell) {
	struct table_name unit;
	const char *behind = cell + strspn(cell, "0123456789.");
	table_name_read(behind, &unit);
	return behind > cell && *behind != ' ' && unit.measure == MEASURE_TIME && !*unit.base && !*unit.per;
}

/* "8" and "8:" */
static bool is_numbered(const char *cell) {
	const char *behind = cell + table_digits(cell);
	return behind > cell && (!*behind || strcmp(behind, ":") == 0);
}

/* Is it in a column of its own kind: a number above numbers, or a word that stands below as well? */
static bool is_cell(const struct csv *csv, size_t column) {
	double number;
	bool words = false, numbers = csv->rows > 0;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		numbers = numbers && table_number(csv, cell, false, &number);
		words = words || strcmp(cell, csv->header[column]) == 0;
	}
	return table_number(csv, csv->header[column], false, &number) ? numbers : words;
}

static bool has_fractions(const struct csv *csv, size_t column) {
	return strchr(csv->header[column], '.') || table_is_real(csv, column);
}

/* The number that a column has over another one in all rows, as times over sizes; the column itself if it is no such.
 */
static size_t whole_of(const struct csv *csv, size_t column, size_t *size) {
	for (size_t i = 0; i < csv->columns * csv->columns; i++) {
		size_t over = i / csv->columns, under = i % csv->columns;
		if (over != column && under != column && over != under && table_varies(csv, under) &&
		    table_is_quotient(csv, column, over, under, NEAR)) {
			*size = under;
			return over;
		}
	}
	return column;
}

/* Where the line of names is a measurement: the only column of fractions, or what these are shares of, has its times.
 * SIZE_MAX: it is not so. */
static size_t times_find(const struct csv *csv, size_t *size) {
	size_t found = SIZE_MAX, fractions = 0, numbers = 0;
	double number;
	for (size_t c = 0; c < csv->columns; c++) {
		if (!is_cell(csv, c))
			return SIZE_MAX;
		numbers += table_number(csv, csv->header[c], false, &number);
		found = has_fractions(csv, c) ? c : found;
		fractions += has_fractions(csv, c);
	}
	return fractions == 1 && csv->rows >= ROWS_LEAST && 2 * numbers >= csv->columns ? whole_of(csv, found, size)
	                                                                                : SIZE_MAX;
}

/* The line of names becomes the first row, and the columns get numbers for names. */
static void names_make(struct csv *csv, size_t time, size_t size) {
	const char **cells = mem_alloc((csv->rows + 1) * csv->columns, sizeof *cells);
	size_t *line = mem_alloc(csv->rows + 1, sizeof *line);
	memcpy(cells, csv->header, csv->columns * sizeof *cells);
	memcpy(cells + csv->columns, csv->cells, csv->rows * csv->columns * sizeof *cells);
	memcpy(line + 1, csv->line, csv->rows * sizeof *line);
	line[0] = csv->rows ? csv->line[0] - 1 : 1;
	free(csv->cells);
	free(csv->line);
	csv->cells = cells;
	csv->line = line;
	csv->rows++;
	csv->header = arena_alloc(csv->arena, csv->columns, sizeof *csv->header);
	for (size_t c = 0; c < csv->columns; c++)
		csv->header[c] = c == time ? "time" : c == size ? "size" : arena_printf(csv->arena, "column %zu", c + 1);
}

/* The first whole number that the times fall with as with a team is one. */
static void team_name(struct csv *csv, size_t time) {
	bool unknown[CSV_COLUMNS_MAX] = {false};
	unknown[time] = true;
	for (size_t c = 0; c < csv->columns; c++) {
		const char *name = csv->header[c];
		if (c == time || !table_varies(csv, c))
			continue;
		csv->header[c] = "threads";
		if (wide_law(csv, unknown, time) == MEASURE_TIME)
			return;
		csv->header[c] = name;
	}
}

/* Numbers without a name at the left that do not count the rows. */
static void first_name(struct csv *csv) {
	bool counts = true;
	size_t numbers = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		double own = table_positive(csv, r, 0);
		numbers += isfinite(own);
		counts = counts && (!r || own == table_positive(csv, r - 1, 0) + 1);
	}
	if (!*csv->header[0] && numbers == csv->rows && !counts && csv->rows > 1)
		csv->header[0] = "first column";
}

/* No time is below 0, except for -1 where none was measured. A table that has no other time is refused later. */
static void changes_name(struct csv *csv) {
	double number;
	size_t measured = 0;
	for (size_t c = 0; c < csv->columns; c++)
		measured += table_is_measurement(csv->header[c]) || table_has_word(csv->header[c], "time");
	for (size_t c = 0; c < csv->columns; c++) {
		bool change = false;
		for (size_t r = 0; r < csv->rows; r++)
			change = change || (table_number(csv, csv_cell(csv, r, c), false, &number) && number < 0 && number != -1);
		const char *name = csv->header[c];
		bool only = measured == 1 && table_is_measurement(name);
		if (change && !only && !table_is_figure(name) && !table_is_parameter(name) && !table_is_problem(name))
			csv->header[c] = arena_printf(csv->arena, "change (%zu)", c + 1);
	}
}

/* "serial,GB/s,parallel,GB/s": a unit alone that stands twice is that of what is before it. */
static void units_name(struct csv *csv) {
	struct table_name name;
	const char **header = arena_alloc(csv->arena, csv->columns, sizeof *header);
	memcpy(header, csv->header, csv->columns * sizeof *header);
	for (size_t c = 1; c < csv->columns; c++) {
		table_name_read(csv->header[c], &name);
		for (size_t d = 0; d < csv->columns && name.measure != MEASURE_NONE && !*name.base; d++)
			if (d != c && strcmp(csv->header[c], csv->header[d]) == 0)
				header[c] = arena_printf(csv->arena, "%s %s", csv->header[c - 1], csv->header[c]);
	}
	csv->header = header;
}

/* A line of times above others is a measurement, too, with numbers before them or without: the names are missing. */
int table_nameless(struct csv *csv, const char *path, struct err *err) {
	size_t timed = 0, numbered = 0, size = SIZE_MAX, time = times_find(csv, &size);
	for (size_t c = 0; c < csv->columns && csv->rows; c++) {
		timed += is_timed(csv->header[c]) && is_timed(csv_cell(csv, 0, c));
		numbered += is_numbered(csv->header[c]) && is_numbered(csv_cell(csv, 0, c));
	}
	if (timed >= 2 || (timed && timed + numbered >= csv->columns))
		return err_set(err, ERR_USAGE, NULL, "%s: the line of names has times in it", path);
	first_name(csv);
	changes_name(csv);
	units_name(csv);
	if (time != SIZE_MAX) {
		names_make(csv, time, size);
		team_name(csv, time);
	}
	return 0;
}
