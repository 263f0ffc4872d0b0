/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as people write them become numbers: marks of thousands, minutes and seconds, the sides of a square, and the
 * word "serial" among numbers of threads. */
#include <ctype.h>
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

/* "1m12.271s", as bash prints it, and "1h2m3s". */
static bool letters_read(const char *cell, double *seconds) {
	static const char *const units[] = {"h", "min", "m", "s"};
	static const double scale[] = {3600, 60, 60, 1};
	size_t next = 0, parts = 0;
	*seconds = 0;
	while (*cell) {
		char copy[CSV_FIELD_MAX + 1], *end;
		size_t length = strspn(cell, "0123456789.,"), unit = next;
		snprintf(copy, sizeof copy, "%.*s", (int)length, cell);
		copy[strcspn(copy, ",")] = copy[strcspn(copy, ",")] ? '.' : '\0';
		cell += length + strspn(cell + length, " ");
		while (unit < 4 && strncmp(cell, units[unit], strlen(units[unit])) != 0)
			unit++;
		if (!length || unit == 4)
			return false;
		*seconds += scale[unit] * strtod(copy, &end);
		if (*end || isalpha((unsigned char)cell[strlen(units[unit])]))
			return false;
		cell += strlen(units[unit]);
		cell += strspn(cell, " ");
		next = unit == 1 ? 3 : unit + 1;
		parts++;
	}
	return parts > 1;
}

bool table_clock(const char *cell, double *seconds) {
	char copy[CSV_FIELD_MAX + 1], *at = copy, *end;
	size_t colons = 0;
	if (letters_read(cell, seconds))
		return true;
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

static void cell_set(struct csv *csv, size_t row, size_t column, const char *text) {
	csv->cells[row * csv->columns + column] = text;
}

/* Some cells are such times, and the others numbers of seconds. */
static void clocks_rewrite(struct csv *csv, size_t column) {
	double seconds;
	size_t clocks = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		bool clock = table_clock(cell, &seconds);
		clocks += clock;
		if (!clock && !table_is_missing(cell) && !table_number(csv, cell, false, &seconds))
			return;
	}
	for (size_t r = 0; r < csv->rows && clocks; r++)
		if (table_clock(csv_cell(csv, r, column), &seconds))
			cell_set(csv, r, column, arena_printf(csv->arena, "%.9g", seconds));
}

/* The number at the beginning of a cell such as "10.2 s", "~60s" or "8x", and what follows it; false if it is not so.
 */
static bool suffixed_read(const struct csv *csv, const char *cell, double *number, const char **suffix) {
	char copy[CSV_FIELD_MAX + 1];
	cell += *cell == '~';
	size_t length = strspn(cell, "+-.,0123456789");
	if (length && (cell[length] == 'e' || cell[length] == 'E') && strspn(cell + length + 1, "+-0123456789"))
		length += 1 + strspn(cell + length + 1, "+-0123456789");
	snprintf(copy, sizeof copy, "%.*s", (int)length, cell);
	*suffix = cell + length + strspn(cell + length, " ");
	return length && table_number(csv, copy, false, number);
}

/* The unit of a cell: a factor of 8x, a share of 80 % and the "2 processes" of a column called so are numbers; a time
 * becomes seconds. 0: something else. */
static double suffix_scale(const char *header, const char *suffix, enum table_measure *measure) {
	static const char *const plain[] = {"x", "X", "\xc3\x97", "%", "-fold"};
	struct table_name name;
	char plural[CSV_FIELD_MAX + 3];
	*measure = MEASURE_NONE;
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(suffix, plain[i]) == 0)
			return 1;
	snprintf(plural, sizeof plural, "%s%s", suffix, suffix[0] && suffix[strlen(suffix) - 1] == 's' ? "es" : "s");
	if (isalpha((unsigned char)*suffix) && suffix[1] &&
	    (table_has_word(header, suffix) || table_has_word(header, plural)))
		return 1;
	table_name_read(suffix, &name);
	*measure = name.measure;
	if (name.measure == MEASURE_RATE)
		return *name.base ? 0 : 1;
	return *suffix && name.measure == MEASURE_TIME && !*name.base && !*name.per ? name.scale : 0;
}

/* Every cell with a number has a unit behind it: "10.2 s", "850 ms", "8x", or that of a rate, which is the same in all.
 * The unit moves to the header. */
static void suffixes_rewrite(struct csv *csv, size_t column) {
	enum table_measure measure = MEASURE_NONE, one = MEASURE_NONE;
	struct table_name name;
	double number;
	const char *header = csv->header[column], *suffix, *unit = "s";
	size_t with = 0, without = 0;
	table_name_read(header, &name);
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell))
			continue;
		if (!suffixed_read(csv, cell, &number, &suffix))
			return;
		without += !*suffix;
		if (*suffix && (suffix_scale(header, suffix, &one) == 0 || (with && one != measure) ||
		                (with && one == MEASURE_RATE && strcmp(unit, suffix) != 0)))
			return;
		measure = *suffix ? one : measure;
		unit = measure == MEASURE_RATE && *suffix ? suffix : unit;
		with += *suffix != '\0';
	}
	if (!with || (without && (measure == MEASURE_TIME || name.measure != MEASURE_NONE)))
		return;
	for (size_t r = 0; r < csv->rows; r++)
		if (suffixed_read(csv, csv_cell(csv, r, column), &number, &suffix))
			cell_set(csv, r, column,
			         arena_printf(csv->arena, "%.12g", number * (*suffix ? suffix_scale(header, suffix, &one) : 1)));
	if (measure != MEASURE_NONE)
		csv->header[column] = arena_printf(csv->arena, "%.*s (%s)", (int)strcspn(header, "(["), header, unit);
}

/* A comma that cannot be a mark of thousands begins a fraction: "10,2" and "0,123", where no cell of the table has a
 * point in it but as a mark of thousands: "1.000". */
static bool has_decimal_commas(const struct csv *csv) {
	bool some = false;
	for (size_t i = 0; i < csv->rows * csv->columns; i++) {
		const char *cell = csv->cells[i], *comma = cell + digits(cell);
		size_t fraction = *comma == ',' ? digits(comma + 1) : 0;
		if (digits(cell) && *comma == '.' && digits(comma + 1) && (digits(comma + 1) != GROUP || *cell == '0'))
			return false;
		some = some || (comma > cell && fraction && (fraction != GROUP || *cell == '0') && comma[1 + fraction] != ',');
	}
	return some;
}

static void commas_rewrite(struct csv *csv) {
	if (csv->delimiter == ';' || !has_decimal_commas(csv))
		return;
	for (size_t i = 0; i < csv->rows * csv->columns; i++) {
		const char *cell = csv->cells[i];
		char out[CSV_FIELD_MAX + 1];
		size_t whole = digits(cell), fraction = cell[whole] == ',' ? digits(cell + whole + 1) : 0, marks;
		bool real;
		if (whole && cell[whole] == '.' && styled_read(cell, (struct style){'.', ','}, out, &marks, &real))
			csv->cells[i] = arena_strdup(csv->arena, out);
		else if (whole && fraction && cell[whole + 1 + fraction] != ',')
			csv->cells[i] = arena_printf(csv->arena, "%.*s.%s", (int)whole, cell, cell + whole + 1);
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
			if (!table_is_missing(csv_cell(csv, r, c)) && !table_number(csv, csv_cell(csv, r, c), true, &number))
				return false;
	}
	return timed && csv->columns > 2 && (table_is_parameter(csv->header[0]) || table_is_problem(csv->header[0]));
}

static struct csv *transposed(const struct csv *csv) {
	if (!is_transposed(csv) || csv->rows + 1 > CSV_COLUMNS_MAX)
		return NULL;
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

struct csv *table_cells_rewrite(struct csv *csv) {
	commas_rewrite(csv);
	for (size_t c = 0; c < csv->columns; c++) {
		thousands_rewrite(csv, c);
		clocks_rewrite(csv, c);
		suffixes_rewrite(csv, c);
		squares_rewrite(csv, c);
	}
	for (size_t c = 0; c < csv->columns; c++)
		if (has_serial_cells(csv, c)) {
			serial_split(csv, c);
			break;
		}
	struct csv *turned = transposed(csv);
	return turned ? turned : csv;
}
