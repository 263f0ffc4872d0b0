/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of any name by what the times do as they grow: the size of the problem, or the number of a run. */
#include <math.h>
#include <stdlib.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 3, RUNS_LEAST = 3, COUNTED_LEAST = 5 };
/* A number of so many things is rarely chosen. */
static const double SAME = 1.3, ALIKE = 1.1, STEADY = 0.9, WIDEST = 0.9, LONGER = 1.5, FAR_TIMES = 10,
					POWER_SERIES = 0.6, MANY = 1e4, POWER_MANY = 0.3, MILLIONS = 1e6, POWER_MILLIONS = 0.15;
/* One fall in so many pairs may be noise: of a single series, of several. */
enum { FALLS_MOST = 10, FALLS_SERIES = 5 };

struct table_ends table_ends(const struct table *table, size_t column) {
	struct table_ends ends = {INFINITY, -INFINITY, NAN, NAN, INFINITY};
	for (size_t r = 0; r < table->csv->rows; r++) {
		double x = table_amount(table->csv, r, column), y = table_own(table->csv, r, table->value);
		if (isnan(x + y))
			continue;
		ends.least = fmin(ends.least, y);
		ends.at_small = x < ends.small ? y : x == ends.small ? fmin(y, ends.at_small) : ends.at_small;
		ends.at_large = x > ends.large ? y : x == ends.large ? fmin(y, ends.at_large) : ends.at_large;
		ends.small = fmin(ends.small, x);
		ends.large = fmax(ends.large, x);
	}
	return ends;
}

bool table_same_but(const struct table *table, size_t a, size_t b, size_t column) {
	for (size_t c = 0; c < table->csv->columns; c++)
		if (c != column && table_is_set(&table->columns[c]) && !table_is_same(table->csv, c, a, b))
			return false;
	return true;
}

/* How the times change over pairs of rows in which a number, and nothing else, is larger. */
struct growth {
	size_t pairs, falls, widest;
	double largest;           /* number */
	double products, squares; /* of logarithms, whose quotient is the power that fits best */
	double farthest, longer;  /* the widest pairs: how far apart, and how much longer the larger ones take, added up */
};

static void growth_add(struct growth *growth, const double x[2], const double y[2]) {
	double wider = log(x[1] / x[0]), longer = log(y[1] / y[0]);
	growth->pairs++;
	growth->falls += longer < log(STEADY);
	growth->largest = fmax(growth->largest, x[1]);
	if (!(x[0] > 0) || wider < growth->farthest * WIDEST)
		wider = x[0] > 0 ? wider : 0;
	else if (wider > growth->farthest / WIDEST) {
		growth->widest = 1;
		growth->longer = longer;
	} else {
		growth->widest++;
		growth->longer += longer;
	}
	growth->farthest = fmax(growth->farthest, wider);
	growth->products += wider * longer;
	growth->squares += wider * wider;
}

/* A number, or the product that "64 x 64", "128^3" and "2^25" stand for. */
static bool amount_of(const struct csv *csv, size_t row, size_t column, double *amount) {
	static const char *const powers[] = {"\xc2\xb2", "\xc2\xb3"};
	const char *at = csv_cell(csv, row, column);
	if (table_number(csv, at, true, amount))
		return true;
	for (*amount = 1; table_digits(at); at += strspn(at, " ")) {
		double factor = strtod(at, (char **)&at), power = 1;
		for (size_t i = 0; i < 2; i++)
			power = strncmp(at, powers[i], 2) == 0 ? (double)i + 2 : power;
		at += power > 1 ? 2 : 0;
		power = *at == '^' ? strtod(at + 1, (char **)&at) : power;
		*amount *= pow(factor, power);
		at += strspn(at, " ");
		if (!*at)
			return isfinite(*amount) && *amount > 0;
		at += strncmp(at, "\xc3\x97", 2) == 0 ? 2 : strspn(at, "x*");
	}
	return false;
}

static struct growth growth_of(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	struct growth growth = {0};
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows;
		double x[2], y[2];
		if (amount_of(csv, a, column, &x[0]) && amount_of(csv, b, column, &x[1]) && x[0] < x[1] &&
		    table_same_but(table, a, b, column) && table_number(csv, csv_cell(csv, a, table->value), false, &y[0]) &&
		    table_number(csv, csv_cell(csv, b, table->value), false, &y[1]) && y[0] > 0 && y[1] > 0)
			growth_add(&growth, x, y);
	}
	return growth;
}

/* Does nothing else vary that was chosen? */
static bool is_alone(const struct table *table, size_t column) {
	bool alone = true;
	for (size_t c = 0; c < table->csv->columns; c++)
		alone = alone && (c == column || !table_varies(table->csv, c) || !table_is_set(&table->columns[c]));
	return alone;
}

/* Does the time grow with a number wherever nothing else changes, by a power of work? A fixed cost may hide the power
 * where it still grows much, or the number is one of many things. */
static bool is_size(const struct table *table, size_t column) {
	struct growth growth = growth_of(table, column);
	double power = growth.products / growth.squares, gained = exp(growth.longer / (double)growth.widest);
	size_t least = growth.largest >= MILLIONS ? 1 : gained >= FAR_TIMES ? 2 : ROWS_LEAST;
	size_t falls = is_alone(table, column) ? FALLS_MOST : FALLS_SERIES;
	bool steady = growth.pairs >= least && 2 * growth.pairs >= table->csv->rows &&
	              growth.falls * falls <= growth.pairs && gained >= LONGER;
	return steady && (power >= POWER_SERIES || gained >= FAR_TIMES || (growth.largest >= MANY && power >= POWER_MANY) ||
	                  (growth.largest >= MILLIONS && power >= POWER_MILLIONS));
}

/* How many numbers from 0 or 1 on without a gap a column has, each equally often; 0: it is not so. */
static size_t numbered_to(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	double least = INFINITY, most = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		double number = table_own(csv, r, column);
		if (number != floor(number))
			return 0;
		least = fmin(least, number);
		most = fmax(most, number);
	}
	size_t runs = least >= 0 && least <= 1 && most - least < (double)csv->rows ? (size_t)(most - least) + 1 : 0;
	for (size_t r = 0; r < csv->rows && runs; r++)
		runs = table_seen(csv, column, r, csv->rows) * runs == csv->rows ? runs : 0;
	return runs;
}

/* Logarithm of how much longer the second of two rows takes that differ in this column, and in nothing else; NAN. */
static double longer(const struct table *table, size_t column, size_t a, size_t b, double *apart) {
	const struct csv *csv = table->csv;
	*apart = table_same_but(table, a, b, column) ? table_own(csv, b, column) - table_own(csv, a, column) : NAN;
	return *apart > 0 ? log(table_own(csv, b, table->value) / table_own(csv, a, table->value)) : NAN;
}

/* "iteration" 1, 2, 3 of each configuration, of which the last takes as long as the first, numbers measurements. So
 * does an unknown name, if the times are about the same and do not follow it. */
static bool is_repetition(const struct table *table, size_t column, bool named) {
	size_t rows = table->csv->rows, runs = numbered_to(table, column), pairs = 0;
	double sum = 0, ends = 0, trend = 0, squares = 0, apart;
	for (size_t i = 0; i < rows * rows && runs > 1; i++) {
		double log_ratio = longer(table, column, i / rows, i % rows, &apart);
		if (isnan(log_ratio))
			continue;
		pairs++;
		sum += fabs(log_ratio);
		ends += apart == (double)runs - 1 ? log_ratio : 0;
		trend += apart * log_ratio;
		squares += apart * apart;
	}
	bool whole = runs > 1 && 2 * pairs == rows * (runs - 1);
	if (named)
		return whole && fabs(ends) < log(SAME) * (double)(rows / runs);
	return whole && runs >= RUNS_LEAST && sum <= log(ALIKE) * (double)pairs &&
	       fabs(trend) * (double)(runs - 1) <= log(ALIKE) * squares;
}

/* Does a column vary over the first rows, and is it the same again in each so many further ones? */
static bool is_periodic(const struct csv *csv, size_t column, size_t period) {
	size_t r = period;
	while (r < csv->rows && table_is_same(csv, column, r, r % period))
		r++;
	return r >= csv->rows && table_varies(csv, column);
}

/* Does it count the rows of the file, of which each version has all, beside what was chosen? */
static bool is_of_rows(const struct table *table, size_t column) {
	const struct csv *csv = table->csv;
	double first = csv->rows ? table_own(csv, 0, column) : NAN;
	size_t r = 0, period = 1;
	bool other = false;
	while (period < csv->rows && !table_is_same(csv, column, period, 0))
		period++;
	while (r < csv->rows && table_own(csv, r, column) == first + (double)(r % period))
		r++;
	for (size_t c = 0; c < csv->columns; c++)
		other = other || (c != column && is_periodic(csv, c, period) && table_is_set(&table->columns[c]));
	return r == csv->rows && period >= COUNTED_LEAST && other;
}

enum table_number table_number_kind(const struct table *table, size_t column, bool named) {
	const struct table_column *value = &table->columns[table->value];
	if (is_repetition(table, column, named) || (!named && is_of_rows(table, column)))
		return NUMBER_RUN;
	return value->role == TABLE_TIME && !*value->read.per && is_size(table, column) ? NUMBER_SIZE : NUMBER_OTHER;
}
