/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells whether a table is about its times or about its rates, where it has both. */
#include <math.h>

#include "tuner/study/study_impl.h"

enum { LAWFUL_LEAST = 3 };
static const double STOPPED = 1.15, WORKED = 1.4, LAWFUL = 0.3;

/* The largest over the smallest number of a column; 0: it has none. */
static double span_of(const struct csv *csv, size_t column) {
	double number, least = INFINITY, most = 0;
	for (size_t r = 0; r < csv->rows; r++)
		if (table_number(csv, csv_cell(csv, r, column), false, &number) && number > 0) {
			least = fmin(least, number);
			most = fmax(most, number);
		}
	return most / least;
}

/* Is a time only what a load makes of a rate? By Little's law the clients in a service are its rate times how long a
 * request takes. */
static bool is_of_load(const struct table *table, size_t time, size_t rate, size_t clients) {
	const struct csv *csv = table->csv;
	double scale = table->columns[time].read.scale * table->columns[rate].read.scale, t, r, n;
	size_t lawful = 0, numbers = 0;
	for (size_t row = 0; row < csv->rows; row++) {
		if (!table_number(csv, csv_cell(csv, row, time), false, &t) ||
		    !table_number(csv, csv_cell(csv, row, rate), false, &r) ||
		    !table_number(csv, csv_cell(csv, row, clients), false, &n) || !(n >= 1))
			continue;
		numbers++;
		lawful += fabs(log(scale * t * r / n)) < LAWFUL;
	}
	return numbers >= LAWFUL_LEAST && lawful == numbers && span_of(csv, clients) >= 2;
}

/* Are the rows of some number of clients with this rate? */
static bool is_load(const struct table *table, size_t time, size_t rate) {
	bool load = false;
	for (size_t c = 0; c < table->csv->columns && !load; c++)
		load = c != time && c != rate && table->columns[c].numbers && table->columns[c].read.measure == MEASURE_NONE &&
		       is_of_load(table, time, rate, c);
	return load;
}

/* Do rates come before this time? Where all rows ran for the same time they are what differs, and of services that tell
 * both, how long a request takes is not what they do. */
bool table_is_behind_rates(const struct table *table, size_t time) {
	bool latency = table_has_word(table->columns[time].read.base, "latency latencies lat");
	double most = 0;
	for (size_t c = 0; c < table->csv->columns; c++) {
		if (table->columns[c].read.measure != MEASURE_RATE || !*table->columns[c].read.per)
			continue;
		latency = latency || is_load(table, time, c);
		most = fmax(most, span_of(table->csv, c));
	}
	return latency ? most > 0 : span_of(table->csv, time) <= STOPPED && most >= WORKED;
}
