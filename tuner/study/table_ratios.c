/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratios of times and what they tell: two columns divided by each other are a speed-up under any name, and what a
 * speed-up or an efficiency is made of are times, or rates, under any name. */
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

enum { COLUMNS_MOST = 20, ROWS_LEAST = 3, APART_LEAST = 2 };
static const double SAME = 0.01, ROUNDED = 0.006, TOLD = 0.02, APART = 1.25, COARSE = 0.06, TELLING = 0.9, MOST = 0.98;

/* Is a number in all rows one of `over` by one of `under`, of `each` member if that is a column? */
static bool is_quotient(const struct csv *csv, size_t column, size_t over, size_t under, size_t each) {
	for (size_t r = 0; r < csv->rows; r++) {
		double own = table_own(csv, r, column), members = each == column ? 1 : table_own(csv, r, each);
		double quotient = table_own(csv, r, over) / table_own(csv, r, under) / members;
		if (!(fabs(own - quotient) <= fmin(ROUNDED, own / 8) + SAME * own))
			return false;
	}
	return true;
}

/* Is it one number over another in all rows, 1 for one of them? */
static bool is_inverse(const struct csv *csv, size_t column, size_t time) {
	double first = table_positive(csv, 0, column) * table_positive(csv, 0, time);
	bool one = false, same = true;
	for (size_t r = 0; r < csv->rows && same; r++) {
		double own = table_positive(csv, r, column);
		same = fabs(own * table_positive(csv, r, time) / first - 1) <= SAME;
		one = one || own == 1;
	}
	return same && one;
}

static bool is_no_time(const char *header) {
	return table_is_team(header) || table_is_figure(header) || table_is_problem(header);
}

/* Is it a speed-up or an efficiency under whatever name: two others divided by each other, perhaps by the team, or one
 * number divided by another? */
static bool is_ratio(const struct csv *csv, size_t column) {
	bool ratio = false;
	struct table_name name;
	table_name_read(csv->header[column], &name);
	bool known = is_no_time(csv->header[column]) || table_is_parameter(csv->header[column]) ||
	             table_has_word(csv->header[column], "time t") ||
	             (name.measure != MEASURE_NONE && name.measure != MEASURE_SPEEDUP);
	if (known || csv->columns > COLUMNS_MOST || csv->rows < ROWS_LEAST || csv->rows > TABLE_PAIRS_ROWS ||
	    !table_varies(csv, column))
		return false;
	for (size_t c = 0; c < csv->columns && !ratio; c++)
		ratio = c != column && !is_no_time(csv->header[c]) && is_inverse(csv, column, c);
	for (size_t i = 0; i < csv->columns * csv->columns && !ratio; i++) {
		size_t over = i / csv->columns, under = i % csv->columns;
		if (over == under || over == column || under == column || is_no_time(csv->header[over]) ||
		    is_no_time(csv->header[under]))
			continue;
		for (size_t each = 0; each < csv->columns && !ratio; each++)
			ratio = (each == column || table_is_team(csv->header[each])) && is_quotient(csv, column, over, under, each);
	}
	return ratio;
}

static const char told_key[] = "told: "; /* a note of ours: the name of a column of times, which may be one of two */

size_t table_told(const struct csv *csv, size_t *other) {
	size_t found = *other = SIZE_MAX;
	for (size_t i = 0; i < csv->note_count; i++)
		for (size_t c = 0; c < csv->columns && strncmp(csv->notes[i], told_key, strlen(told_key)) == 0; c++) {
			if (strcmp(csv->header[c], csv->notes[i] + strlen(told_key)) != 0)
				continue;
			*other = found;
			found = c;
		}
	return found;
}

static void told_add(struct csv *csv, size_t column) {
	size_t other;
	bool again = table_told(csv, &other) == column || other == column;
	if (!again && csv->note_count < CSV_NOTES_MAX)
		csv->notes[csv->note_count++] = arena_printf(csv->arena, "%s%s", told_key, csv->header[column]);
}

/* Numbers that nothing names: neither an input nor a figure. */
static bool is_unnamed(const struct csv *csv, size_t column) {
	const char *header = csv->header[column];
	struct table_name name;
	table_name_read(header, &name);
	return name.measure == MEASURE_NONE && !table_is_statistic(&name) && !is_no_time(header) &&
	       !table_is_parameter(header) && !table_is_counter(header) && !table_is_count(header) &&
	       !table_has_word(header, "time") && !strchr(header, '%') && table_varies(csv, column);
}

static bool may_be_time(const struct csv *csv, size_t column) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	return is_unnamed(csv, column) || (name.measure == MEASURE_TIME && !*name.per && !table_is_statistic(&name)) ||
	       table_has_word(csv->header[column], table_serial_words);
}

/* Is it a number of members, as far as one sees? */
static bool may_be_team(const struct csv *csv, size_t column) {
	size_t r = 0;
	while (r < csv->rows && table_positive(csv, r, column) == floor(table_positive(csv, r, column)))
		r++;
	return table_is_team(csv->header[column]) || (r == csv->rows && table_is_parameter(csv->header[column]));
}

/* How far a number may be from what it was rounded from, as a share. */
static double resolution_of(const char *cell, double number) {
	const char *point = strchr(cell, '.');
	return 0.5 * pow(10, point ? -(double)table_digits(point + 1) : 0) / number;
}

/* How much less time a row takes than the one it is compared with: a speed-up, or an efficiency of so many members. */
struct gain {
	const struct csv *csv;
	size_t ratio, team; /* team: SIZE_MAX if the ratio is the gain */
};

static double gain_of(const struct gain *gain, size_t row) {
	double own = table_positive(gain->csv, row, gain->ratio);
	double members = gain->team == SIZE_MAX ? 1 : table_positive(gain->csv, row, gain->team);
	bool sharp = own == 1 || resolution_of(csv_cell(gain->csv, row, gain->ratio), own) <= COARSE; /* 1 is itself */
	return sharp ? own * members : NAN;
}

/* Is this a row that others are compared with? */
static bool is_compared(const struct gain *gain, size_t row) {
	double own = table_positive(gain->csv, row, gain->ratio);
	return fabs(own - 1) <= TOLD ||
	       (fabs(own - 100) <= 100 * TOLD && strcasestr(gain->csv->header[gain->ratio], "effic"));
}

/* Does the number of a row follow from that of another one by what it gains? */
static bool is_from(const struct gain *gain, size_t column, size_t row, size_t first, bool rate, bool *apart) {
	double gained = gain_of(gain, row) / gain_of(gain, first);
	double own = table_positive(gain->csv, row, column), one = table_positive(gain->csv, first, column);
	double ratio = table_positive(gain->csv, row, gain->ratio);
	double resolution = ratio == 1 ? 0 : resolution_of(csv_cell(gain->csv, row, gain->ratio), ratio);
	*apart = fabs(log(gained)) >= log(APART);
	return fabs(log((rate ? own / one : one / own) / gained)) <= TOLD + resolution;
}

/* Are the numbers of a column times, or rates, whose ratios these are, in nearly all rows? */
static bool is_told(const struct gain *gain, size_t column, bool rate) {
	size_t rows = 0, told = 0, apart = 0, fractions = 0;
	for (size_t r = 0; r < gain->csv->rows; r++) {
		bool from = false, far = false;
		double own = table_positive(gain->csv, r, column);
		if (isnan(gain_of(gain, r)) || isnan(own))
			continue;
		for (size_t f = 0; f < gain->csv->rows && !from; f++)
			from = is_compared(gain, f) && is_from(gain, column, r, f, rate, &far);
		rows++;
		told += from;
		apart += from && far;
		fractions += own != floor(own);
	}
	return apart >= APART_LEAST && (double)told >= TELLING * (double)rows && (!rate || 2 * fractions >= rows);
}

/* The column that a ratio was made from, with `rate` set where more is better; SIZE_MAX: none, or one that has a name.
 */
static size_t told_find(const struct gain *gain, bool *rate) {
	size_t found = SIZE_MAX;
	struct table_name name;
	for (size_t i = 0; i < 2 * gain->csv->columns; i++) {
		size_t c = i % gain->csv->columns;
		bool inverse = i >= gain->csv->columns;
		table_name_read(gain->csv->header[c], &name);
		bool named = name.measure == (inverse ? MEASURE_RATE : MEASURE_TIME) || table_has_word(name.base, "time");
		if (c == gain->ratio || c == gain->team || (!named && !is_unnamed(gain->csv, c)) || !is_told(gain, c, inverse))
			continue;
		if (named)
			return SIZE_MAX;
		*rate = found == SIZE_MAX ? inverse : *rate;
		found = found == SIZE_MAX ? c : found;
	}
	return found;
}

/* Do the times of a column not follow the team, as those of another one do? They are of serial code. */
static bool is_apart(const struct csv *csv, size_t column, size_t other) {
	bool alike = false, gains = false;
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows, c = 0;
		while (c < csv->columns && (!table_is_problem(csv->header[c]) || table_is_same(csv, c, a, b)))
			c++;
		if (a >= b || c < csv->columns)
			continue;
		double own = table_positive(csv, a, column) / table_positive(csv, b, column);
		if (!(fabs(log(own)) <= log(APART)))
			return false;
		alike = true;
		gains = gains || fabs(log(table_positive(csv, a, other) / table_positive(csv, b, other))) >= log(APART);
	}
	for (size_t c = 0; c < csv->columns; c++)
		if (table_is_team(csv->header[c]) && table_varies(csv, c))
			return alike && gains;
	return false;
}

/* Gives a column that nothing names the unit of the other one. */
static void time_name(struct csv *csv, size_t column, size_t other, const char *serial) {
	struct table_name name;
	if (!is_unnamed(csv, column))
		return;
	table_name_read(csv->header[other], &name);
	csv->header[column] =
		name.measure == MEASURE_TIME
			? arena_printf(csv->arena, "%s%s (%s)", serial, csv->header[column], table_time_unit(name.scale))
			: arena_printf(csv->arena, "time %s%s", serial, csv->header[column]);
}

/* Two columns whose quotient is a speed-up have the times of the code before and after. */
static bool pair_tell(struct csv *csv, size_t ratio) {
	for (size_t i = 0; i < csv->columns * csv->columns; i++) {
		size_t over = i / csv->columns, under = i % csv->columns;
		bool other = over != ratio && under != ratio && (is_unnamed(csv, over) || is_unnamed(csv, under));
		if (!other || over >= under || !may_be_time(csv, over) || !may_be_time(csv, under) ||
		    !is_quotient(csv, ratio, over, under, ratio))
			continue;
		time_name(csv, over, under, is_apart(csv, over, under) ? "serial " : "");
		time_name(csv, under, over, "");
		told_add(csv, over);
		told_add(csv, under);
		return true;
	}
	return false;
}

/* Names the column that a speed-up or an efficiency is made from. */
static void ratio_tell(struct csv *csv, size_t ratio) {
	bool speedup = table_has_word(csv->header[ratio], "speedup"), rate = false;
	if (!speedup && !table_has_word(csv->header[ratio], "efficiency"))
		return;
	if (speedup && pair_tell(csv, ratio))
		return;
	for (size_t team = 0; team <= csv->columns; team++) {
		struct gain gain = {csv, ratio, team < csv->columns ? team : SIZE_MAX};
		if (team < csv->columns && (speedup || team == ratio || !may_be_team(csv, team)))
			continue;
		size_t found = told_find(&gain, &rate);
		if (found == SIZE_MAX)
			continue;
		if (rate)
			csv->header[found] = arena_printf(csv->arena, "%s throughput", csv->header[found]);
		else
			told_add(csv, found);
		return;
	}
}

/* Are the numbers of a column those of the columns from first to last, or of these two alone, added up? */
static bool is_sum(const struct csv *csv, size_t column, size_t first, size_t last, bool two) {
	size_t r = 0, shared = 0;
	for (; r < csv->rows; r++) {
		double sum = 0, most = 0, whole = table_positive(csv, r, column);
		for (size_t c = first; c <= last; c += two ? last - first : 1) {
			double number = table_own(csv, r, c);
			sum += number >= 0 ? number : NAN;
			most = fmax(most, number);
		}
		if (!(fabs(sum / whole - 1) <= fmin(SAME + resolution_of(csv_cell(csv, r, column), whole), COARSE)))
			return false;
		shared += most < MOST * whole;
	}
	return 2 * shared > r;
}

static bool is_time(const struct csv *csv, size_t column, double *scale) {
	struct table_name name;
	table_name_read(csv->header[column], &name);
	*scale = name.scale;
	return name.measure == MEASURE_TIME && !*name.per && !table_is_statistic(&name);
}

/* A column that nothing names, to which times before or behind it add up, is their total. */
static void sum_tell(struct csv *csv, size_t column) {
	double scale = 0, other;
	for (size_t i = 0; i < csv->columns * csv->columns && is_unnamed(csv, column); i++) {
		size_t first = i / csv->columns, last = i % csv->columns, c = first;
		if (first >= last || (first != column + 1 && last + 1 != column))
			continue;
		while (c <= last && is_time(csv, c, &other) && (c == first || other == scale)) {
			scale = other;
			c++;
		}
		if (c > last && is_sum(csv, column, first, last, false))
			csv->header[column] =
				arena_printf(csv->arena, "total %s (%s)", csv->header[column], table_time_unit(scale));
	}
}

/* So is a time that is the sum of two others: "wall" beside "interior" and "wall - interior". */
static void two_tell(struct csv *csv, size_t column) {
	double scale, one, two;
	if (!is_time(csv, column, &scale) || table_has_word(csv->header[column], "total overall all end e2e"))
		return;
	for (size_t i = 0; i < csv->columns * csv->columns; i++) {
		size_t a = i / csv->columns, b = i % csv->columns;
		if (a >= b || a == column || b == column || !is_time(csv, a, &one) || !is_time(csv, b, &two) || one != scale ||
		    two != scale || !is_sum(csv, column, a, b, true))
			continue;
		csv->header[column] = arena_printf(csv->arena, "total %s", csv->header[column]);
		return;
	}
}

void table_ratios_name(struct csv *csv) {
	for (size_t c = 0; c < csv->columns; c++)
		if (is_ratio(csv, c))
			csv->header[c] = arena_printf(csv->arena, "%s ratio", csv->header[c]);
	bool usual = csv->columns <= COLUMNS_MOST && csv->rows >= ROWS_LEAST && csv->rows <= TABLE_PAIRS_ROWS;
	for (size_t c = 0; c < csv->columns && usual; c++) {
		sum_tell(csv, c);
		two_tell(csv, c);
		ratio_tell(csv, c);
	}
}
