/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units that stand in the cells of a table move to its header: "10.2 s", "850 ms", "1m12.3s", "8x"; sizes lose their
 * sides. */
#include <ctype.h>
#include <math.h>

#include "tuner/study/study_impl.h"

enum { GROUP = 3, BLOCK_MOST = 1024 /* threads of a GPU's block, or elements of a tile of 32 x 32 */ };

/* The length of a mark at this position, 0 if there is none. Narrow blanks and typographic apostrophes count. */
static size_t mark_length(const char *at, char mark) {
	static const char *const marks[][2] = {
		{" ", "\xc2\xa0"}, {" ", "\xe2\x80\xaf"}, {" ", "\xe2\x80\x89"}, {"'", "\xe2\x80\x99"}};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (*marks[i][0] == mark && strncmp(at, marks[i][1], strlen(marks[i][1])) == 0)
			return strlen(marks[i][1]);
	return *at == mark && *at != '\0';
}

/* The text of the number at the beginning of a cell such as "10.2 s", "60s" or "8x", and what follows it; false if it
 * is not so. */
static bool suffixed_read(const char *cell, char number[CSV_FIELD_MAX + 1], const char **suffix) {
	size_t length = strspn(cell, "+-.,0123456789");
	for (size_t blank; (blank = mark_length(cell + length, ' ')) && table_digits(cell + length + blank) == 3;)
		length += blank + 3 + strspn(cell + length + blank + 3, ".,0123456789");
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
	const char *open = strpbrk(csv->header[column], "(["), *colon = open ? strchr(open, ':') : NULL;
	if (clocks && colon && open > csv->header[column]) /* "Elapsed (min:sec)" */
		csv->header[column] = arena_printf(csv->arena, "%.*s", (int)(open - csv->header[column]) - (open[-1] == ' '),
		                                   csv->header[column]);
	table_name_read(csv->header[column], &name);
	if (clocks && name.measure == MEASURE_NONE)
		csv->header[column] = arena_printf(csv->arena, "%s (s)", csv->header[column]);
}

/* "B", "KiB", "MB", and "Mo" in French: sizes of memory. */
static bool bytes_read(const char *unit, struct table_name *name) {
	static const char prefixes[] = "kmgt";
	const char *prefix = *unit ? strchr(prefixes, tolower((unsigned char)*unit)) : NULL;
	const char *rest = unit + (prefix != NULL);
	rest += prefix && *rest == 'i';
	if (strcmp(rest, "B") != 0 && (!prefix || strcmp(rest, "o") != 0))
		return false;
	*name = (struct table_name){.scale = prefix ? ldexp(1, 10 * (int)(prefix - prefixes + 1)) : 1, .per = "byte"};
	return true;
}

/* "52 secondes" and "0.27 second(s)" */
static void unit_ours(const char *suffix, char ours[TABLE_NAME]) {
	table_translate(suffix, ours);
	char *plural = strstr(ours, "(s)");
	if (plural && plural > ours)
		*plural = '\0';
}

/* The unit of a cell: a factor of 8x, a share of 80 % and the "2 processes" of a column called so are numbers; "20M"
 * below "4 threads" counts something in a second, and so does a column that `counts`. False: something else. */
static bool suffix_read(const char *header, const char *suffix, bool counts, struct table_name *name) {
	static const char *const plain[] = {"x", "X", "\xc3\x97", "%", "-fold"};
	char plural[CSV_FIELD_MAX + 3], ours[TABLE_NAME];
	struct table_name own;
	*name = (struct table_name){.scale = 1};
	unit_ours(suffix, ours);
	table_name_read(header, &own);
	if (own.measure == MEASURE_RATE && table_among(suffix, strlen(suffix), "k K M G")) {
		name->scale = *suffix == 'G' ? 1e9 : *suffix == 'M' ? 1e6 : 1e3;
		return true;
	}
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(suffix, plain[i]) == 0) {
			if (!strchr("%-", *suffix) && !table_is_figure(header))
				name->measure = MEASURE_RATE;
			return true;
		}
	snprintf(plural, sizeof plural, "%s%s", suffix, suffix[0] && suffix[strlen(suffix) - 1] == 's' ? "es" : "s");
	if (isalpha((unsigned char)*suffix) && suffix[1] && !strchr(suffix, ' ') &&
	    (table_has_word(header, suffix) || table_has_word(header, plural) || table_has_word(header, ours)))
		return true; /* "2 hilos" below "threads", too */
	bool teams = isdigit((unsigned char)*header) &&
	             table_has_word(header, "thread threads core cores process processes rank ranks");
	if (table_among(suffix, strlen(suffix), "k M G") && (teams || counts)) {
		snprintf(plural, sizeof plural, "%s/s", suffix);
		suffix = plural;
	}
	static const char *const large[] = {"thousand", "million", "billion"};
	for (size_t i = 0; i < sizeof large / sizeof *large; i++)
		if (strcmp(suffix, large[i]) == 0) {
			name->scale = pow(1000, (double)i + 1);
			return true;
		}
	if (bytes_read(suffix, name))
		return true;
	table_name_read(suffix == plural ? suffix : ours, name);
	return !*name->base && (name->measure == MEASURE_RATE || name->measure == MEASURE_TIME);
}

/* "172.7 ms" among numbers below "ns/op" is as many ns. */
static void times_align(struct csv *csv, size_t column) {
	struct table_name own;
	double seconds;
	size_t bare = 0;
	table_name_read(csv->header[column], &own);
	for (size_t r = 0; r < csv->rows; r++)
		bare += !csv_cell(csv, r, column)[strspn(csv_cell(csv, r, column), "0123456789.,")];
	for (size_t r = 0; r < csv->rows && own.measure == MEASURE_TIME && 2 * bare > csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (*cell && isalpha((unsigned char)cell[strlen(cell) - 1]) && seconds_read(csv, cell, &seconds))
			table_cell_set(csv, r, column, arena_printf(csv->arena, "%.12g", seconds / own.scale));
	}
}

/* The units behind the numbers of a column. */
struct suffixes {
	struct table_name first, name; /* of the first one, and of the latest */
	const char *unit;              /* the first one */
	size_t with, without;
	bool alike, above; /* all are the same; the first row alone has one */
	bool counts;       /* "2.9M" counts something, because the name above is not that of an input */
};

static bool are_counts(const struct csv *csv, size_t column) {
	const char *header = csv->header[column], *suffix;
	char number[CSV_FIELD_MAX + 1];
	bool fraction = false, input = table_is_problem(header) || table_is_parameter(header) || table_is_figure(header);
	for (size_t r = 0; r < csv->rows && !input; r++)
		fraction = fraction || (suffixed_read(csv_cell(csv, r, column), number, &suffix) && strchr(number, '.') &&
		                        table_among(suffix, strlen(suffix), "k M G"));
	return fraction;
}

static bool suffixes_read(const struct csv *csv, size_t column, struct suffixes *all) {
	char number[CSV_FIELD_MAX + 1];
	const char *suffix;
	*all = (struct suffixes){.alike = true, .counts = are_counts(csv, column)};
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell) || (table_is_team(csv->header[column]) && table_is_serial(cell)))
			continue;
		if (!suffixed_read(cell, number, &suffix) ||
		    (*suffix && !suffix_read(csv->header[column], suffix, all->counts, &all->name)))
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
	if (all->first.measure == MEASURE_NONE && !*all->first.per && all->first.scale != 1) { /* "480k" of "ops/s" */
		all->first.scale = 1;
		all->alike = false;
	}
	return all->with > 0;
}

/* The header without what is in brackets, unless only that tells it from others: "time (task)", "time (pipeline)". */
static const char *header_bare(const struct csv *csv, size_t column) {
	const char *header = csv->header[column];
	const char *open = table_bracket(header);
	size_t name = open ? (size_t)(open - header) : strlen(header), own = name;
	bool twice = false;
	for (size_t c = 0; c < csv->columns && header[name]; c++)
		twice = twice || (c != column && strncmp(csv->header[c], header, name + 1) == 0);
	while (name && header[name - 1] == ' ')
		name--;
	return twice ? arena_printf(csv->arena, "%.*s %.*s", (int)name, header, (int)strcspn(header + own + 1, ")]"),
	                            header + own + 1)
	             : arena_printf(csv->arena, "%.*s", (int)name, header);
}

/* Were factors such as 2x, 3x and 4x chosen? Each is whole and stands in several rows. */
static bool are_chosen(const struct csv *csv, size_t column) {
	size_t again = 0;
	double number;
	for (size_t r = 0; r < csv->rows; r++) {
		if (!table_number(csv, csv_cell(csv, r, column), false, &number) || number != floor(number))
			return false;
		size_t seen = 0;
		for (size_t s = 0; s < csv->rows && seen < 2; s++)
			seen += table_is_same(csv, column, s, r);
		again += seen > 1;
	}
	return again == csv->rows && table_varies(csv, column);
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
	    (all.without && !all.above &&
	     (all.first.measure == MEASURE_TIME || (own.measure != MEASURE_NONE && all.alike))))
		return;
	for (size_t r = 0; r < csv->rows && !all.alike; r++)
		if (suffixed_read(csv_cell(csv, r, column), number, &suffix) && !table_number(csv, number, false, &value))
			return;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell) || !suffixed_read(cell, number, &suffix))
			continue;
		cell = arena_strdup(csv->arena, number);
		if (!all.alike && *suffix && suffix_read(header, suffix, all.counts, &all.name) &&
		    table_number(csv, number, false, &value))
			cell = arena_printf(csv->arena, "%.12g", value * all.name.scale / all.first.scale);
		table_cell_set(csv, r, column, cell);
	}
	char unit[TABLE_NAME];
	unit_ours(all.unit, unit);
	bool is_factor = all.first.measure == MEASURE_RATE && !*all.first.per;
	if ((all.first.measure != MEASURE_NONE || *all.first.per) && !(is_factor && are_chosen(csv, column)))
		csv->header[column] = arena_printf(csv->arena, "%s (%s%s)", header_bare(csv, column), is_factor ? "x" : unit,
		                                   all.first.measure == MEASURE_RATE && !is_factor && !all.unit[1] ? "/s" : "");
}

/* A range such as "42.9-66.2" among numbers is not a value. */
static void ranges_blank(struct csv *csv, size_t column) {
	static const char *const dashes[] = {"-", "\xe2\x80\x93"};
	double number;
	size_t numbers = 0, ranges = 0;
	for (int pass = 0; pass < 2; pass++)
		for (size_t r = 0; r < csv->rows; r++) {
			const char *cell = csv_cell(csv, r, column), *point = strchr(cell, '.');
			bool range = false;
			for (size_t i = 0; i < 2 && point; i++) {
				const char *dash = strstr(cell, dashes[i]);
				range = range || (dash && dash > cell && cell + strspn(cell, "0123456789.") == dash &&
				                  table_number(csv, dash + strlen(dashes[i]), false, &number));
			}
			if (pass && range && numbers > ranges)
				table_cell_set(csv, r, column, "-");
			ranges += !pass && range;
			numbers += !pass && !range && table_number(csv, cell, false, &number);
		}
}

/* Where all cells of a column read "p=4", their value is 4, and "p" is the name of a column that has none. */
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

/* "12 (8 fast)" and "12T" of a team are 12, unless another row has that, too, without the remark. */
static void brackets_strip(struct csv *csv, size_t column) {
	const char **plain = arena_alloc(csv->arena, csv->rows + 1, sizeof *plain);
	for (size_t r = 0; r < csv->rows && table_is_team(csv->header[column]); r++) {
		const char *cell = csv_cell(csv, r, column);
		size_t own = table_digits(cell), same = 0;
		bool remark = strncmp(cell + own, " (", 2) == 0 && cell[strlen(cell) - 1] == ')';
		remark = own && *cell != '0' && (remark || strcmp(cell + own, "T") == 0);
		for (size_t s = 0; s < csv->rows && remark; s++)
			same += table_digits(csv_cell(csv, s, column)) == own &&
			        strncmp(csv_cell(csv, s, column), cell, own) == 0 && strcmp(csv_cell(csv, s, column), cell) != 0;
		if (remark && same == 0)
			plain[r] = arena_printf(csv->arena, "%.*s", (int)own, cell);
	}
	for (size_t r = 0; r < csv->rows; r++)
		if (plain[r])
			table_cell_set(csv, r, column, plain[r]);
}

/* "64K" and "128K" are powers of two, but not beside "100K": then K is a thousand. Sizes of memory say "KB". */
static void thousands_rewrite(struct csv *csv, size_t column) {
	static const char prefixes[] = "kKMG";
	double number;
	int exponent;
	size_t decimal = 0;
	char *end;
	for (size_t r = 0; r < csv->rows; r++) {
		number = strtod(csv_cell(csv, r, column), &end);
		if (!table_is_missing(csv_cell(csv, r, column)) && *end && (!strchr(prefixes, *end) || end[1]))
			return;
		decimal += *end && frexp(number, &exponent) != 0.5;
	}
	for (size_t r = 0; r < csv->rows && decimal; r++) {
		number = strtod(csv_cell(csv, r, column), &end);
		const char *prefix = *end ? strchr(prefixes, *end) : NULL;
		if (prefix)
			table_cell_set(csv, r, column,
			               arena_printf(csv->arena, "%.12g", number * pow(1000, fmax(1, (double)(prefix - prefixes)))));
	}
}

/* A blank or an apostrophe can only be a mark of thousands; a point or a comma may also begin a fraction. */
struct style {
	char mark, point;
};
static const struct style styles[] = {{',', '.'}, {'.', ','}, {' ', '.'}, {' ', ','}, {'\'', '.'}, {'\'', ','}};
enum { STYLES = sizeof styles / sizeof *styles };

/* Reads a number of this style into `out`; false if it is none. Sets how many marks it has, and whether a fraction. */
static bool styled_read(const char *cell, struct style style, char out[CSV_FIELD_MAX + 1], size_t *marks,
                        bool *fraction) {
	size_t count = table_digits(cell), length = 0, mark;
	*marks = 0;
	*fraction = false;
	if (count == 0)
		return false;
	memcpy(out, cell, length = count);
	cell += count;
	for (; count <= GROUP && (mark = mark_length(cell, style.mark)) > 0 && table_digits(cell + mark) == GROUP;
	     ++*marks) {
		memcpy(out + length, cell + mark, GROUP);
		length += GROUP;
		cell += mark + GROUP;
	}
	if (*cell == style.point && table_digits(cell + 1)) {
		*fraction = true;
		length +=
			(size_t)snprintf(out + length, CSV_FIELD_MAX - length, ".%.*s", (int)table_digits(cell + 1), cell + 1);
		cell += 1 + table_digits(cell + 1);
	}
	out[length] = '\0';
	return *cell == '\0';
}

/* Does another cell of the table begin with a number such as "2.1", which leaves a comma to be a mark of thousands? */
static bool has_decimal_points(const struct csv *csv) {
	for (size_t i = 0; i < csv->rows * csv->columns; i++) {
		const char *point = csv->cells[i] + table_digits(csv->cells[i]);
		size_t fraction = *point == '.' ? table_digits(point + 1) : 0;
		if (point > csv->cells[i] && fraction && fraction != GROUP && point[1 + fraction] != ',')
			return true;
	}
	return false;
}

/* Nobody counts thousandths of a request. */
static bool is_of_requests(const struct csv *csv, size_t column) {
	struct table_name own, noted;
	table_name_read(csv->header[column], &own);
	if (own.measure == MEASURE_NONE && !table_is_figure(csv->header[column]) && wide_noted_unit(csv, &noted))
		own = noted;
	return own.measure == MEASURE_RATE && own.scale == 1 &&
	       table_among(own.per, strlen(own.per), "request transaction query message");
}

/* Are all cells of the column numbers of this style, and do some of them leave no other? "12,400" may be 12.4, but not
 * beside 733 if several have three digits behind the comma, because fractions are printed alike, nor where all end in
 * "000", because nobody prints so many zeros. */
static bool is_style(const struct csv *csv, size_t column, struct style style) {
	bool sure = false, points = style.mark == ',' && has_decimal_points(csv), plain = false, large = false,
		 marked = false;
	size_t some = 0, rounds = 0;
	for (size_t i = 0; i < csv->rows * csv->columns && style.mark == ','; i++)
		some += strchr(csv->cells[i], ',') && table_digits(strchr(csv->cells[i], ',') + 1) == GROUP;
	for (size_t r = 0; r < csv->rows; r++) {
		char out[CSV_FIELD_MAX + 1];
		size_t marks;
		bool fraction;
		const char *cell = csv_cell(csv, r, column);
		if (table_is_missing(cell))
			continue;
		if (!styled_read(cell, style, out, &marks, &fraction))
			return false;
		sure = sure || marks > 1 || (marks && (fraction || points || strchr(" '", style.mark)));
		marked = marked || marks;
		rounds += marks == 1 && strcmp(out + strlen(out) - GROUP, "000") == 0;
		plain = plain || (!marks && !fraction && table_digits(cell) <= GROUP);
		large = large || (!marks && (fraction || table_digits(cell) > GROUP));
	}
	bool whole = rounds == csv->rows || (!large && (plain || is_of_requests(csv, column)));
	return sure || (style.mark == ',' && some > 1 && marked && whole);
}

static void marks_rewrite(struct csv *csv, size_t column) {
	for (size_t i = 0; i < STYLES; i++) {
		if (!is_style(csv, column, styles[i]))
			continue;
		for (size_t r = 0; r < csv->rows; r++) {
			char out[CSV_FIELD_MAX + 1];
			size_t marks;
			bool fraction;
			if (styled_read(csv_cell(csv, r, column), styles[i], out, &marks, &fraction))
				table_cell_set(csv, r, column, arena_strdup(csv->arena, out));
		}
		return;
	}
}

static void commas_rewrite(struct csv *csv, size_t column) {
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		char out[CSV_FIELD_MAX + 1];
		size_t whole = table_digits(cell), fraction, marks, blank;
		bool real;
		while (whole && (blank = mark_length(cell + whole, ' ')) && table_digits(cell + whole + blank) == GROUP)
			whole += blank + GROUP;
		fraction = cell[whole] == ',' ? table_digits(cell + whole + 1) : 0;
		if (whole && cell[whole] == '.' && styled_read(cell, (struct style){'.', ','}, out, &marks, &real))
			table_cell_set(csv, r, column, arena_strdup(csv->arena, out));
		else if (whole && fraction && cell[whole + 1 + fraction] != ',')
			table_cell_set(csv, r, column, arena_printf(csv->arena, "%.*s.%s", (int)whole, cell, cell + whole + 1));
	}
}

/* The product of "512x512x1024"; 0: it is no such size. */
static double sides_multiplied(const char *cell) {
	double product = 1;
	size_t digits;
	for (const char *at = cell; (digits = table_digits(at)); at += digits + 1) {
		product *= strtod(at, NULL);
		if (!at[digits])
			return at > cell ? product : 0;
		if (!strchr("xX*", at[digits]))
			return 0;
	}
	return 0;
}

/* A size "512x512" or "64³" is 512 or 64, so that times can follow it, and other sizes of as many sides are so many
 * cells, under any name if they are more than a block or a tile has. The shape of a block stays as it is. */
static void squares_rewrite(struct csv *csv, size_t column) {
	size_t length;
	bool named = table_is_problem(csv->header[column]), squares = named, products = true;
	for (size_t r = 0; r < csv->rows; r++) {
		const char *cell = csv_cell(csv, r, column);
		products = products && sides_multiplied(cell) > (named ? 0 : BLOCK_MOST);
		squares = squares && table_side(cell, &length) && !cell[length];
	}
	for (size_t r = 0; r < csv->rows && (squares || products); r++) {
		const char *cell = csv_cell(csv, r, column);
		table_cell_set(csv, r, column,
		               squares ? arena_printf(csv->arena, "%.*s", (int)table_side(cell, &length), cell)
		                       : arena_printf(csv->arena, "%.0f", sides_multiplied(cell)));
	}
	if (products && !named && csv->rows)
		csv->header[column] = arena_printf(csv->arena, "%s size", csv->header[column]);
}

void table_units_rewrite(struct csv *csv, size_t column, bool commas) {
	if (commas)
		commas_rewrite(csv, column);
	brackets_strip(csv, column);
	keys_strip(csv, column);
	clocks_rewrite(csv, column);
	times_align(csv, column);
	suffixes_rewrite(csv, column);
	ranges_blank(csv, column);
	thousands_rewrite(csv, column);
	marks_rewrite(csv, column);
	squares_rewrite(csv, column);
}
