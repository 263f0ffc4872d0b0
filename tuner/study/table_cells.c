/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people write them become numbers: marks of thousands, minutes and seconds, the sides of a square, and the
 * word "serial" among numbers of threads. Units of the cells move to the header: "10.2 s", "850 ms", "8x". */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

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

/* Does another cell of the table begin with a number such as "2.1", which leaves a comma to be a mark of thousands? */
static bool has_decimal_points(const struct csv *csv) {
	for (size_t i = 0; i < csv->rows * csv->columns; i++) {
		const char *point = csv->cells[i] + digits(csv->cells[i]);
		size_t fraction = *point == '.' ? digits(point + 1) : 0;
		if (point > csv->cells[i] && fraction && fraction != GROUP && point[1 + fraction] != ',')
			return true;
	}
	return false;
}

/* Are all cells of the column numbers of this style, and do some of them leave no other? "12,400" may be 12.4, but not
 * beside 733 if several have three digits behind the comma, because fractions are printed alike. */
static bool is_style(const struct csv *csv, size_t column, struct style style) {
	bool sure = false, points = style.mark == ',' && has_decimal_points(csv), plain = false, large = false,
		 marked = false;
	size_t some = 0;
	for (size_t i = 0; i < csv->rows * csv->columns && style.mark == ','; i++)
		some += strchr(csv->cells[i], ',') && digits(strchr(csv->cells[i], ',') + 1) == GROUP;
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
		sure = sure || marks > 1 || (marks && (fraction || only || points));
		marked = marked || marks;
		plain = plain || (!marks && !fraction && digits(cell) <= GROUP);
		large = large || (!marks && (fraction || digits(cell) > GROUP));
	}
	return sure || (style.mark == ',' && some > 1 && marked && plain && !large);
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

/* "1 thread (ns)", "2", "4": a number alone continues the name before it, and a unit counts for those that follow. */
static void headers_continue(struct csv *csv) {
	for (size_t c = 1; c < csv->columns; c++) {
		const char *before = csv->header[c - 1], *own = csv->header[c], *unit = strpbrk(before, "([");
		size_t number = digits(before), length = digits(own);
		if (!number || before[number] != ' ' || !length)
			continue;
		size_t word = strcspn(before + number, "(["), same = word;
		while (same && strchr(" s", before[number + same - 1]))
			same--;
		if (!own[length])
			csv->header[c] = arena_printf(csv->arena, "%s%s", own, before + number);
		else if (unit && !strpbrk(own, "([") && strncmp(own + length, before + number, same) == 0)
			csv->header[c] = arena_printf(csv->arena, "%s %s", own, unit);
	}
}

/* A comma that cannot be a mark of thousands begins a fraction: "10,2" and "0,123", where no cell of these has a point
 * in it but as a mark of thousands: "1.000". */
static bool has_decimal_commas(const struct csv *csv, size_t first, size_t step) {
	bool some = false;
	for (size_t i = first; i < csv->rows * csv->columns; i += step) {
		const char *cell = csv->cells[i], *comma = cell + digits(cell);
		size_t fraction = *comma == ',' ? digits(comma + 1) : 0;
		if (digits(cell) && *comma == '.' && digits(comma + 1) && (digits(comma + 1) != GROUP || *cell == '0'))
			return false;
		some = some || (comma > cell && fraction && (fraction != GROUP || *cell == '0') && comma[1 + fraction] != ',');
	}
	return some;
}

static void commas_rewrite(struct csv *csv, size_t column) {
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		char out[CSV_FIELD_MAX + 1];
		size_t whole = digits(cell), fraction = cell[whole] == ',' ? digits(cell + whole + 1) : 0, marks;
		bool real;
		if (whole && cell[whole] == '.' && styled_read(cell, (struct style){'.', ','}, out, &marks, &real))
			table_cell_set(csv, r, column, arena_strdup(csv->arena, out));
		else if (whole && fraction && cell[whole + 1 + fraction] != ',')
			table_cell_set(csv, r, column, arena_printf(csv->arena, "%.*s.%s", (int)whole, cell, cell + whole + 1));
	}
}

/* "threads,1,2,4,8" with a row of times below it: what is measured must be the name of a row, and the first row
 * numbers.
 */
static bool is_transposed(const struct csv *csv) {
	double number;
	bool timed = false;
	struct table_name name;
	for (size_t c = 1; c < csv->columns; c++)
		if (!table_number(csv, csv->header[c], true, &number))
			return false;
	for (size_t r = 0; r < csv->rows; r++) {
		table_name_read(csv_cell(csv, r, 0), &name);
		timed = timed || table_time_rank(&name) >= 0 || name.measure == MEASURE_RATE;
		for (size_t c = 1; c < csv->columns; c++)
			if (!table_is_missing(csv_cell(csv, r, c)) && !strspn(csv_cell(csv, r, c), "+-.0123456789"))
				return false;
	}
	return timed && csv->columns > 2 && (table_is_parameter(csv->header[0]) || table_is_problem(csv->header[0]));
}

static struct csv *turn(struct csv *csv) {
	if (!is_transposed(csv) || csv->rows + 1 > CSV_COLUMNS_MAX)
		return csv;
	struct csv *out = arena_alloc(csv->arena, 1, sizeof *out);
	*out = *csv;
	out->columns = csv->rows + 1;
	out->rows = csv->columns - 1;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, out->rows * out->columns + 1, sizeof *out->cells);
	out->line = arena_alloc(csv->arena, out->rows + 1, sizeof *out->line);
	for (size_t c = 0; c < out->columns; c++)
		out->header[c] = c ? csv_cell(csv, c - 1, 0) : csv->header[0];
	for (size_t r = 0; r < out->rows; r++) {
		out->line[r] = csv->line[0];
		for (size_t c = 0; c < out->columns; c++)
			out->cells[r * out->columns + c] = c ? csv_cell(csv, c - 1, r + 1) : csv->header[r + 1];
	}
	return out;
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

/* "N\\threads,1,2,4": the corner names the rows and the columns, or the columns alone if these are teams and the rows
 * words. NULL: it does not. */
static const char *corner_split(struct csv *csv) {
	const char *slash = strpbrk(csv->header[0], "\\/"), *team = table_is_team(csv->header[0]) ? csv->header[0] : NULL;
	double number;
	for (size_t c = 1; c < csv->columns; c++)
		if (!table_number(csv, csv->header[c], true, &number))
			return NULL;
	for (size_t r = 0; r < csv->rows && team; r++)
		if (table_number(csv, csv_cell(csv, r, 0), true, &number) || table_is_figure(csv_cell(csv, r, 0)))
			team = NULL;
	if (csv->columns > 2 && team) {
		csv->header[0] = CORNER_SERIES;
		return table_is_threads(team) ? "threads" : team;
	}
	if (!slash || slash == csv->header[0] || !slash[1] || csv->columns < 3)
		return NULL;
	csv->header[0] = arena_printf(csv->arena, "%.*s", (int)(slash - csv->header[0]), csv->header[0]);
	return slash + 1;
}

/* "p=4" in all cells of a column is 4, and names a column that has no name. */
static void keys_strip(struct csv *csv, size_t column) {
	const char *first = csv->rows ? csv_cell(csv, 0, column) : "", *equals = strchr(first, '=');
	size_t length = equals ? (size_t)(equals - first) + 1 : 0;
	double number;
	for (size_t r = 0; r < csv->rows; r++)
		if (length < 2 || strncmp(csv_cell(csv, r, column), first, length) != 0 ||
		    !table_number(csv, csv_cell(csv, r, column) + length, true, &number))
			return;
	for (size_t r = 0; r < csv->rows; r++)
		table_cell_set(csv, r, column, csv_cell(csv, r, column) + length);
	char *key = arena_printf(csv->arena, "%.*s", (int)length - 1, first);
	if (!*csv->header[column] || table_has_word(csv->header[column], key))
		csv->header[column] = key;
}

/* Words in a column without a name, as in a table of versions by what was measured of each. */
static void words_name(struct csv *csv) {
	double number;
	bool words = !*csv->header[0];
	for (size_t c = 1; c < csv->columns; c++)
		words = words && strcasecmp(csv->header[c], "version") != 0;
	for (size_t r = 0; r < csv->rows; r++)
		words = words && *csv_cell(csv, r, 0) && !table_number(csv, csv_cell(csv, r, 0), true, &number);
	if (words)
		csv->header[0] = "version";
}

/* The text of the number at the beginning of a cell such as "10.2 s", "60s" or "8x", and what follows it; false if it
 * is not so. */
static bool suffixed_read(const char *cell, char number[CSV_FIELD_MAX + 1], const char **suffix) {
	size_t length = strspn(cell, "+-.,0123456789");
	if (length && (cell[length] == 'e' || cell[length] == 'E') && strspn(cell + length + 1, "+-0123456789"))
		length += 1 + strspn(cell + length + 1, "+-0123456789");
	snprintf(number, CSV_FIELD_MAX + 1, "%.*s", (int)length, cell);
	*suffix = cell + length + strspn(cell + length, " ");
	return length && strpbrk(number, "0123456789");
}

/* "2.3 s" beside "5m9.04s". */
static bool seconds_read(const struct csv *csv, const char *cell, double *seconds) {
	char number[CSV_FIELD_MAX + 1];
	const char *suffix;
	struct table_name unit;
	if (table_clock(cell, seconds) || table_number(csv, cell, false, seconds))
		return true;
	if (!suffixed_read(cell, number, &suffix) || !table_number(csv, number, false, seconds))
		return false;
	table_name_read(suffix, &unit);
	*seconds *= unit.scale;
	return unit.measure == MEASURE_TIME && !*unit.base && !*unit.per;
}

/* Some cells are such times, and the others numbers of seconds. */
static void clocks_rewrite(struct csv *csv, size_t column) {
	double seconds;
	size_t clocks = 0;
	struct table_name name;
	if (table_is_problem(csv->header[column])) /* a mix of 80:20 */
		return;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		clocks += table_clock(cell, &seconds);
		if (!table_is_missing(cell) && !seconds_read(csv, cell, &seconds))
			return;
	}
	for (size_t r = 0; r < csv->rows && clocks; r++)
		if (seconds_read(csv, csv_cell(csv, r, column), &seconds))
			table_cell_set(csv, r, column, arena_printf(csv->arena, "%.9g", seconds));
	table_name_read(csv->header[column], &name);
	if (clocks && name.measure == MEASURE_NONE)
		csv->header[column] = arena_printf(csv->arena, "%s (s)", csv->header[column]);
}

/* "B", "KiB", "MB": sizes of memory. */
static bool bytes_read(const char *unit, struct table_name *name) {
	static const char prefixes[] = "kmgt";
	const char *prefix = *unit ? strchr(prefixes, tolower((unsigned char)*unit)) : NULL;
	const char *rest = unit + (prefix != NULL);
	rest += prefix && *rest == 'i';
	if (strcmp(rest, "B") != 0)
		return false;
	*name = (struct table_name){.scale = prefix ? ldexp(1, 10 * (int)(prefix - prefixes + 1)) : 1, .per = "byte"};
	return true;
}

enum { FACTORS = 3 };

/* The unit of a cell: a factor of 8x, a share of 80 % and the "2 processes" of a column called so are numbers; "20M"
 * below "4 threads" counts something in a second. False: something else. */
static bool suffix_read(const char *header, const char *suffix, struct table_name *name) {
	static const char *const plain[] = {"x", "X", "\xc3\x97", "%", "-fold"};
	char plural[CSV_FIELD_MAX + 3];
	*name = (struct table_name){.scale = 1};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(suffix, plain[i]) == 0) {
			if (i < FACTORS && !table_is_figure(header))
				name->measure = MEASURE_RATE;
			return true;
		}
	snprintf(plural, sizeof plural, "%s%s", suffix, suffix[0] && suffix[strlen(suffix) - 1] == 's' ? "es" : "s");
	if (isalpha((unsigned char)*suffix) && suffix[1] &&
	    (table_has_word(header, suffix) || table_has_word(header, plural)))
		return true;
	if (table_among(suffix, strlen(suffix), "k M G") && isdigit((unsigned char)*header) &&
	    table_has_word(header, "thread threads core cores process processes rank ranks")) {
		snprintf(plural, sizeof plural, "%s/s", suffix);
		suffix = plural;
	}
	if (bytes_read(suffix, name))
		return true;
	table_name_read(suffix, name);
	return !*name->base && (name->measure == MEASURE_RATE || (name->measure == MEASURE_TIME && !*name->per));
}

/* The units behind the numbers of a column. */
struct suffixes {
	struct table_name first, name; /* of the first one, and of the latest */
	const char *unit;              /* the first one */
	size_t with, without;
	bool alike, above; /* all are the same; the first row alone has one */
};

static bool suffixes_read(const struct csv *csv, size_t column, struct suffixes *all) {
	char number[CSV_FIELD_MAX + 1];
	const char *suffix;
	*all = (struct suffixes){.alike = true};
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell))
			continue;
		if (!suffixed_read(cell, number, &suffix) || (*suffix && !suffix_read(csv->header[column], suffix, &all->name)))
			return false;
		all->without += !*suffix;
		if (!*suffix)
			continue;
		if (all->with++ == 0) {
			all->first = all->name;
			all->above = all->without == 0;
			all->unit = suffix;
		}
		all->alike = all->alike && strcmp(all->unit, suffix) == 0;
		if (all->name.measure != all->first.measure || strcmp(all->name.per, all->first.per) != 0)
			return false;
	}
	all->above = all->above && all->with == 1;
	return all->with > 0;
}

/* Every cell with a number has a unit behind it, or the first one for all: "10.2 s", "850 ms", "8x", "2.1 M/s". The
 * unit moves to the header. */
static void suffixes_rewrite(struct csv *csv, size_t column) {
	struct suffixes all;
	struct table_name own;
	char number[CSV_FIELD_MAX + 1];
	const char *header = csv->header[column], *suffix;
	double value;
	table_name_read(header, &own);
	if (!suffixes_read(csv, column, &all) ||
	    (all.without && !all.above && (all.first.measure == MEASURE_TIME || own.measure != MEASURE_NONE)))
		return;
	for (size_t r = 0; r < csv->rows && !all.alike; r++)
		if (suffixed_read(csv_cell(csv, r, column), number, &suffix) && !table_number(csv, number, false, &value))
			return;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell) || !suffixed_read(cell, number, &suffix))
			continue;
		cell = arena_strdup(csv->arena, number);
		if (!all.alike && *suffix && suffix_read(header, suffix, &all.name) && table_number(csv, number, false, &value))
			cell = arena_printf(csv->arena, "%.12g", value * all.name.scale / all.first.scale);
		table_cell_set(csv, r, column, cell);
	}
	size_t name = strcspn(header, "([");
	while (name && header[name - 1] == ' ')
		name--;
	bool is_factor = all.first.measure == MEASURE_RATE && !*all.first.per;
	if (all.first.measure != MEASURE_NONE || *all.first.per)
		csv->header[column] = arena_printf(csv->arena, "%.*s (%s%s)", (int)name, header, is_factor ? "x" : all.unit,
		                                   all.first.measure == MEASURE_RATE && !is_factor && !all.unit[1] ? "/s" : "");
}

static void table_units_rewrite(struct csv *csv, size_t column) {
	clocks_rewrite(csv, column);
	suffixes_rewrite(csv, column);
}

struct csv *table_cells_rewrite(struct csv *csv, const char **noted) {
	csv = turn(csv);
	*noted = corner_split(csv);
	bool commas = has_decimal_commas(csv, 0, 1);
	words_name(csv);
	for (size_t c = 0; c < csv->columns; c++) {
		keys_strip(csv, c);
		if (csv->delimiter != ';' && (commas || has_decimal_commas(csv, c, csv->columns)))
			commas_rewrite(csv, c);
		table_units_rewrite(csv, c);
		thousands_rewrite(csv, c);
		squares_rewrite(csv, c);
	}
	headers_continue(csv);
	for (size_t c = 0; c < csv->columns; c++)
		if (has_serial_cells(csv, c)) {
			serial_split(csv, c);
			break;
		}
	return csv;
}
