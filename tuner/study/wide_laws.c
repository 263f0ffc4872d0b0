/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that nothing names are times or speed-ups by laws: times fall as a team grows, at most as fast as it does,
 * and they grow with a size as work does; a speed-up begins with 1 and gains no more than the team grows. */
#include <math.h>
#include <string.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 5 }; /* fewer numbers may fall by chance */
/* How much less a time is that falls, the power of work, and how near an efficiency and a speed-up are to 1. */
static const double FALLEN = 1.5, WORK_POWER = 0.8, GROWN = 100, NEAR_ONE = 0.1, ONE = 0.02;

/* Do two rows agree in all words and inputs, but the one that changes? */
static bool is_same_series(const struct csv *csv, const bool *unknown, size_t changes, size_t a, size_t b) {
	for (size_t c = 0; c < csv->columns; c++) {
		bool given =
			table_is_problem(csv->header[c]) || table_is_parameter(csv->header[c]) || isnan(table_own(csv, a, c));
		if (c != changes && !unknown[c] && given && !table_is_same(csv, c, a, b))
			return false;
	}
	return true;
}

/* An efficiency begins near 1 or 100 %. */
static bool is_one(double first) {
	return fabs(first - 1) < NEAR_ONE || fabs(first / 100 - 1) < NEAR_ONE;
}

/* Does a column fall as times do with a team, at least once by much, and never faster than the team grows? */
static bool falls_with(const struct csv *csv, const bool *unknown, size_t team, size_t column) {
	bool fallen = false, ones = true;
	double least = INFINITY; /* a bad time of a larger one does not break the law */
	for (size_t r = 0; r < csv->rows; r++)
		least = fmin(least, table_positive(csv, r, team));
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows;
		double few = table_positive(csv, a, team), many = table_positive(csv, b, team);
		if (few > least || !(few < many) || !is_same_series(csv, unknown, team, a, b))
			continue;
		double ratio = table_positive(csv, a, column) / table_positive(csv, b, column);
		if (table_exceeds_team(ratio, many / few))
			return false;
		fallen = fallen || ratio >= FALLEN;
		ones = ones && is_one(table_positive(csv, a, column));
	}
	return fallen && !ones;
}

/* Does a column of fractions grow with a size as work does, over two decades at least? No rate does. */
static bool grows_with(const struct csv *csv, size_t size, size_t column) {
	size_t fractions = 0, small = 0, middle = 0, large = 0;
	for (size_t r = 0; r < csv->rows; r++) {
		double own = table_positive(csv, r, column), n = table_positive(csv, r, size);
		fractions += own != floor(own);
		if (isnan(own) || isnan(n))
			continue;
		small = isnan(table_positive(csv, small, column)) || n < table_positive(csv, small, size) ? r : small;
		large = n > table_positive(csv, large, size) ? r : large;
	}
	for (size_t r = 0; r < csv->rows; r++)
		if (table_positive(csv, r, size) <= table_positive(csv, large, size) / 2 &&
		    !(table_positive(csv, middle, size) > table_positive(csv, r, size) &&
		      table_positive(csv, middle, size) <= table_positive(csv, large, size) / 2))
			middle = r;
	double first = table_positive(csv, small, column), half = table_positive(csv, middle, column),
		   last = table_positive(csv, large, column);
	return 2 * fractions >= csv->rows && last >= GROWN * first &&
	       last / half >= pow(table_positive(csv, large, size) / table_positive(csv, middle, size), WORK_POWER);
}

/* A speed-up is 1 for a team of one in some series, gains there, and never more than the team grows. */
static bool gains_with(const struct csv *csv, const bool *unknown, size_t team, size_t column) {
	bool gains = false;
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows;
		double members = table_positive(csv, b, team), first = table_positive(csv, a, column),
			   own = table_positive(csv, b, column);
		if (table_exceeds_team(own, members))
			return false;
		gains = gains || (table_positive(csv, a, team) == 1 && fabs(first - 1) < ONE && own >= FALLEN &&
		                  is_same_series(csv, unknown, team, a, b));
	}
	return gains;
}

/* Is serial code slower than all others wherever nothing but the words differ? Rates of it would be higher. */
static bool serial_is_slowest(const struct csv *csv, const bool *unknown, size_t words, size_t column) {
	bool slower = false;
	for (size_t i = 0; i < csv->rows * csv->rows; i++) {
		size_t a = i / csv->rows, b = i % csv->rows;
		if (!table_is_serial(csv_cell(csv, a, words)) || table_is_serial(csv_cell(csv, b, words)) ||
		    !is_same_series(csv, unknown, words, a, b))
			continue;
		if (table_positive(csv, a, column) < FALLEN * table_positive(csv, b, column))
			return false;
		slower = true;
	}
	return slower;
}

enum table_measure wide_law(const struct csv *csv, const bool *unknown, size_t column) {
	bool time = false, speedup = false;
	for (size_t c = 0; c < csv->columns && csv->rows >= ROWS_LEAST && csv->rows <= TABLE_PAIRS_ROWS && !speedup; c++) {
		if (c == column || unknown[c])
			continue;
		bool team = table_is_team(csv->header[c]), words = isnan(table_positive(csv, 0, c));
		bool is = words                              ? serial_is_slowest(csv, unknown, c, column)
		          : team                             ? falls_with(csv, unknown, c, column)
		          : table_is_problem(csv->header[c]) ? grows_with(csv, c, column)
		                                             : false;
		time = time || is;
		speedup = team && gains_with(csv, unknown, c, column);
	}
	return speedup ? MEASURE_SPEEDUP : time ? MEASURE_TIME : MEASURE_NONE;
}
