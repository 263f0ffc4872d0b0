/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that lack names: the first measurement stands in the line of names, the first column has none, or a unit
 * stands alone; and columns of changes, which no name may call times. */
#include <math.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 2, RUNS_LEAST = 5, FRACTION_LEAST = 3, TEAM_MOST = 1024 };
static const double NEAR = 0.01, RUNS_APART = 4, CONSTANT = 1.001, LONGER = 10;

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

/* A line with "0.0410516" above numbers does not name the columns. */
static bool is_long_fraction(const char *cell) {
	const char *point = cell + table_digits(cell);
	return point > cell && *point == '.' && table_digits(point + 1) >= FRACTION_LEAST &&
	       !point[1 + table_digits(point + 1)];
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
	for (size_t c = 0; c < csv->columns && !words; c++)
		words = is_long_fraction(csv->header[c]) && is_long_fraction(csv_cell(csv, 0, c));
	return table_number(csv, csv->header[column], false, &number) ? numbers : words;
}

/* Fractions that differ; an estimate of pi is the same in all rows, or nearly so. */
static bool has_fractions(const struct csv *csv, size_t column) {
	return (strchr(csv_cell(csv, 0, column), '.') || table_is_real(csv, column)) &&
	       !(table_span(csv, column) <= CONSTANT);
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

/* Is it how many times as fast each row is as one of those with a 1? */
static bool is_gain(const struct csv *csv, size_t column, size_t time) {
	size_t r = 0, first = 0;
	for (; r < csv->rows && first < csv->rows && csv->rows <= TABLE_PAIRS_ROWS; r++) {
		double least = table_positive(csv, r, column) * table_positive(csv, r, time);
		for (first = 0; first < csv->rows; first++)
			if (table_positive(csv, first, column) == 1 && fabs(table_positive(csv, first, time) / least - 1) <= NEAR)
				break;
	}
	return r == csv->rows && first < csv->rows && table_varies(csv, column);
}

/* The columns of times and the like; SIZE_MAX: there is none. */
struct naming {
	size_t time, size, ratio;
	bool runs; /* so are all behind it */
};

/* The only column of fractions, or what these are shares of, has the times; of two, one may be the gain over another
 * row. */
static bool times_find(const struct csv *csv, struct naming *naming) {
	size_t found[2] = {SIZE_MAX, SIZE_MAX}, fractions = 0;
	*naming = (struct naming){SIZE_MAX, SIZE_MAX, SIZE_MAX, false};
	for (size_t c = 0; c < csv->columns; c++)
		if (has_fractions(csv, c))
			found[fractions++ % 2] = c;
	if (csv->rows <= ROWS_LEAST)
		return false;
	if (fractions == 1)
		naming->time = whole_of(csv, found[0], &naming->size);
	for (size_t i = 0; i < 2 && fractions == 2; i++)
		if (is_gain(csv, found[i], found[1 - i])) {
			naming->ratio = found[i];
			naming->time = found[1 - i];
		}
	return naming->time != SIZE_MAX;
}

/* A name, or a whole number before fractions, and as many times of it as there are runs: numbers of one size that go up
 * and down. */
static bool are_runs(const struct csv *csv) {
	bool up = false, down = false;
	for (size_t r = 0; r < csv->rows && csv->columns > RUNS_LEAST; r++) {
		double least = INFINITY, most = 0;
		for (size_t c = 1; c < csv->columns; c++) {
			double own = table_positive(csv, r, c);
			if (isnan(own))
				return false;
			least = fmin(least, own);
			most = fmax(most, own);
			up = up || (c > 1 && !r && own > table_positive(csv, r, c - 1));
			down = down || (c > 1 && !r && own < table_positive(csv, r, c - 1));
		}
		double number = table_amount(csv, r, 0);
		bool chosen = isnan(number) || (least != floor(least) && number == floor(number));
		if (most > RUNS_APART * least || !chosen || r > TABLE_PAIRS_ROWS || table_seen(csv, 0, r, r))
			return false;
	}
	return up && down;
}

/* A copy in which the line of names is the first row, and the columns have numbers for names. */
static struct csv rows_all(const struct csv *csv) {
	struct csv all = *csv;
	const char **cells = mem_alloc((csv->rows + 1) * csv->columns, sizeof *cells);
	all.line = mem_alloc(csv->rows + 1, sizeof *all.line);
	memcpy(cells, csv->header, csv->columns * sizeof *cells);
	memcpy(cells + csv->columns, csv->cells, csv->rows * csv->columns * sizeof *cells);
	memcpy(all.line + 1, csv->line, csv->rows * sizeof *all.line);
	all.line[0] = csv->rows ? csv->line[0] - 1 : 1;
	all.cells = cells;
	all.rows++;
	all.header = arena_alloc(csv->arena, csv->columns, sizeof *all.header);
	for (size_t c = 0; c < csv->columns; c++)
		all.header[c] = arena_printf(csv->arena, "column %zu", c + 1);
	return all;
}

/* Is a whole number 1 where the gain is, and in no other row? */
static bool is_one_with(const struct csv *csv, size_t column, size_t ratio) {
	size_t r = 0;
	while (r < csv->rows && table_positive(csv, r, column) == floor(table_positive(csv, r, column)) &&
	       (table_positive(csv, r, column) == 1) == (table_positive(csv, r, ratio) == 1))
		r++;
	return r == csv->rows;
}

/* Nobody starts thousands of threads, nor more that take ten times as long: sizes may begin so. */
static bool may_be_team(const struct csv *csv, size_t column, size_t time) {
	size_t small = 0, large = 0;
	for (size_t r = 1; r < csv->rows; r++) {
		small = table_own(csv, r, column) < table_own(csv, small, column) ? r : small;
		large = table_own(csv, r, column) > table_own(csv, large, column) ? r : large;
	}
	return table_own(csv, large, column) <= TEAM_MOST &&
	       table_own(csv, large, time) <= LONGER * table_own(csv, small, time);
}

/* The first whole number that the times fall with as with a team is one. */
static void team_name(struct csv *csv, const struct naming *naming) {
	bool unknown[CSV_COLUMNS_MAX] = {false};
	for (size_t c = 0; c < csv->columns; c++)
		unknown[c] = c == naming->time || naming->runs;
	for (size_t c = 0; c < csv->columns && (!c || !naming->runs); c++) {
		const char *name = csv->header[c];
		if (c == naming->time || c == naming->ratio || !table_varies(csv, c))
			continue;
		unknown[c] = false;
		csv->header[c] = "threads";
		if ((may_be_team(csv, c, naming->time) && wide_law(csv, unknown, naming->time) == MEASURE_TIME) ||
		    (naming->ratio != SIZE_MAX && is_one_with(csv, c, naming->ratio)))
			return;
		csv->header[c] = name;
	}
}

/* Names the columns, and says how. */
static const char *times_name(struct csv *csv, const struct naming *naming) {
	const char *names = "";
	csv->header[naming->time] = "time";
	if (naming->size != SIZE_MAX)
		csv->header[naming->size] = "size";
	if (naming->ratio != SIZE_MAX)
		csv->header[naming->ratio] = "speedup";
	team_name(csv, naming);
	for (size_t c = 0; c < csv->columns; c++)
		names = arena_printf(csv->arena, "%s%s%s", names, c ? ", " : "", csv->header[c]);
	return names;
}

static const char *runs_name(struct csv *csv) {
	const struct naming naming = {.time = 1, .ratio = SIZE_MAX, .runs = true};
	if (isnan(table_amount(csv, 0, 0)))
		csv->header[0] = "version";
	team_name(csv, &naming);
	for (size_t c = 1; c < csv->columns; c++)
		csv->header[c] = arena_printf(csv->arena, "run %zu", c);
	return arena_printf(csv->arena, "%s, and %zu runs of each", csv->header[0], csv->columns - 1);
}

/* The line of names becomes the first row, if it is a measurement: at least half of it numbers. */
static const char *names_make(struct csv *csv) {
	size_t numbers = 0, like = 0;
	double number;
	for (size_t c = 0; c < csv->columns; c++)
		numbers += table_number(csv, csv->header[c], false, &number);
	if (!csv->rows || 2 * numbers < csv->columns)
		return NULL;
	while (like < csv->columns && is_cell(csv, like))
		like++;
	struct csv all = rows_all(csv);
	struct naming naming;
	const char *names = like == csv->columns && times_find(&all, &naming) ? times_name(&all, &naming)
	                    : are_runs(&all)                                  ? runs_name(&all)
	                                                                      : NULL;
	struct csv *old = names ? csv : &all;
	free(old->cells);
	free(old->line);
	if (names)
		*csv = all;
	return names;
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

/* A time is not negative, but for the -1 of one that was not measured. A table without another time is refused later.
 */
static void changes_name(struct csv *csv) {
	size_t measured = 0;
	for (size_t c = 0; c < csv->columns; c++)
		measured += table_is_measurement(csv->header[c]) || table_has_word(csv->header[c], "time");
	for (size_t c = 0; c < csv->columns; c++) {
		bool change = false;
		for (size_t r = 0; r < csv->rows; r++)
			change = change || (table_own(csv, r, c) < 0 && table_own(csv, r, c) != -1);
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

/* Are most of the names numbers above numbers, and fractions among them that nobody chose? */
static bool are_measured(const struct csv *csv) {
	size_t alike = 0, fractions = 0;
	double number;
	for (size_t c = 0; c < csv->columns && csv->rows; c++) {
		alike += table_number(csv, csv->header[c], false, &number) && is_cell(csv, c);
		fractions += strchr(csv->header[c], '.') && strchr(csv_cell(csv, 0, c), '.') && is_cell(csv, c);
	}
	return 2 * alike > csv->columns && (fractions > 1 || (fractions && alike == csv->columns));
}

/* A line of times above others is a measurement, too, with numbers before them or without: the names are missing. */
int table_nameless(struct csv *csv, const char *path, const char **names, struct err *err) {
	size_t timed = 0, numbered = 0;
	for (size_t c = 0; c < csv->columns && csv->rows; c++) {
		timed += is_timed(csv->header[c]) && is_timed(csv_cell(csv, 0, c));
		numbered += is_numbered(csv->header[c]) && is_numbered(csv_cell(csv, 0, c));
	}
	if (timed >= 2 || (timed && timed + numbered >= csv->columns))
		return err_set(err, ERR_USAGE, NULL, "%s: the line of names has times in it", path);
	const char *made = names_make(csv);
	if (!made && are_measured(csv))
		return err_set(err, ERR_USAGE, NULL, "%s: the line of names is missing: numbers stand in its place", path);
	*names = made ? made : *names;
	if (!made) {
		first_name(csv);
		changes_name(csv);
		units_name(csv);
	}
	return 0;
}
