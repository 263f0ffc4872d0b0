/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that lack the line of names: the first measurement stands there. */
#include <math.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 2 };

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

static bool is_whole_number(const char *text) {
	return *text && !text[table_digits(text)];
}

/* Are all names numbers, one of them a fraction above fractions, and the others whole ones? SIZE_MAX: they are not. */
static size_t fraction_find(const struct csv *csv) {
	size_t found = SIZE_MAX, fractions = 0;
	double number;
	for (size_t c = 0; c < csv->columns; c++) {
		bool whole = is_whole_number(csv->header[c]);
		if (!table_number(csv, csv->header[c], false, &number))
			return SIZE_MAX;
		found = whole ? found : c;
		fractions += !whole;
	}
	return fractions == 1 && csv->rows >= ROWS_LEAST ? found : SIZE_MAX;
}

/* The line of names becomes the first row, and the columns get numbers for names. */
static void names_make(struct csv *csv, size_t time) {
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
		csv->header[c] = c == time ? "time" : arena_printf(csv->arena, "column %zu", c + 1);
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

/* A line of times above others is a measurement, too, with numbers before them or without: the names are missing. */
int table_nameless(struct csv *csv, const char *path, struct err *err) {
	size_t timed = 0, numbered = 0, time = fraction_find(csv);
	for (size_t c = 0; c < csv->columns && csv->rows; c++) {
		timed += is_timed(csv->header[c]) && is_timed(csv_cell(csv, 0, c));
		numbered += is_numbered(csv->header[c]) && is_numbered(csv_cell(csv, 0, c));
	}
	if (timed >= 2 || (timed && timed + numbered >= csv->columns))
		return err_set(err, ERR_USAGE, NULL, "%s: the line of names has times in it", path);
	if (time != SIZE_MAX) {
		names_make(csv, time);
		team_name(csv, time);
	}
	return 0;
}
