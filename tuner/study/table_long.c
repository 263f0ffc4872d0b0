/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "tuner/study/study_impl.h"

static const double AGAIN = 0.1;

struct making {
	const struct csv *csv;
	const struct wide *wide;
	struct csv *out;
	size_t key[CSV_COLUMNS_MAX], keys; /* columns that stay */
};

static bool is_wide(const struct wide *wide, size_t column) {
	for (size_t i = 0; i < wide->count; i++)
		if (wide->column[i] == column)
			return true;
	return false;
}

/* The header of the times. A rate keeps its unit as it was written. */
static const char *value_header(const struct making *making) {
	const struct wide *wide = making->wide;
	const char *header = making->csv->header[wide->column[wide->count - 1 - wide->with_serial]], *unit;
	char text[TABLE_NAME + 16];
	if (wide->speedups)
		return "speedup";
	if (wide->measure.measure != MEASURE_RATE) {
		double scale = wide->measure.scale;
		return scale == 1      ? "time_s"
		       : scale == 1e-3 ? "time_ms"
		       : scale == 1e-6 ? "time_us"
		       : scale == 1e-9 ? "time_ns"
		       : scale == 60   ? "time_minutes"
		                       : "time_hours";
	}
	unit = wide->unit ? wide->unit : strpbrk(header, "([");
	if (!unit)
		unit = strrchr(header, ' ')   ? strrchr(header, ' ') + 1
		       : strrchr(header, '_') ? strrchr(header, '_') + 1
		                              : header;
	snprintf(text, sizeof text, strchr("([", *unit) ? "rate %s" : "rate (%s)", unit);
	return arena_strdup(making->csv->arena, text);
}

/* Do two rows agree in all columns that describe the problem? */
static bool is_same_problem(const struct making *making, size_t a, size_t b) {
	const struct csv *csv = making->csv;
	for (size_t k = 0; k < making->keys; k++)
		if (table_is_problem(csv->header[making->key[k]]) &&
		    strcmp(csv_cell(csv, a, making->key[k]), csv_cell(csv, b, making->key[k])) != 0)
			return false;
	return true;
}

/* The same code measured again takes a little more or less. */
static bool is_same_time(const struct csv *csv, size_t a, size_t b, size_t column) {
	double x, y;
	if (strcmp(csv_cell(csv, a, column), csv_cell(csv, b, column)) == 0)
		return true;
	return table_number(csv, csv_cell(csv, a, column), false, &x) &&
	       table_number(csv, csv_cell(csv, b, column), false, &y) && x > 0 && y > 0 && fabs(log(x / y)) <= AGAIN;
}

/* Serial code does not depend on what was chosen for the other code, so that it has one time for each problem. */
static bool is_serial(const struct making *making, size_t at) {
	const struct wide *wide = making->wide;
	const struct csv *csv = making->csv;
	if (wide->repeats || !table_has_word(wide->value[at], table_serial_words))
		return false;
	for (size_t r = 1; r < csv->rows; r++)
		for (size_t s = 0; s < r && csv->rows <= TABLE_PAIRS_ROWS; s++)
			if (is_same_problem(making, r, s) && !is_same_time(csv, r, s, wide->column[at]))
				return false;
	return true;
}

static void row_add(struct making *making, size_t row, size_t at, bool serial) {
	struct csv *out = making->out;
	const char **cells = out->cells + out->rows * out->columns;
	for (size_t k = 0; k < making->keys; k++)
		cells[k] = serial && !table_is_problem(making->csv->header[making->key[k]])
		               ? ""
		               : csv_cell(making->csv, row, making->key[k]);
	if (!making->wide->repeats)
		cells[making->keys] = making->wide->value[at];
	if (making->wide->directed)
		cells[making->keys + 1] = making->wide->direction[at];
	if (making->wide->with_serial)
		cells[making->keys + 1] = at + 1 == making->wide->count ? "serial" : "parallel";
	cells[out->columns - 1] = csv_cell(making->csv, row, making->wide->column[at]);
	for (size_t r = 0; r < out->rows && serial; r++)
		if (memcmp(out->cells + r * out->columns, cells, out->columns * sizeof *cells) == 0)
			return;
	out->line[out->rows++] = making->csv->line[row];
}

/* The parts of a row; "" if one of them is missing. */
static const char *sum_of(const struct csv *csv, const struct wide *wide, size_t row) {
	double sum = 0, one;
	char text[48];
	for (size_t i = 0; i < wide->count; i++)
		sum += table_number(csv, csv_cell(csv, row, wide->column[i]), false, &one) ? one * wide->measure.scale : NAN;
	snprintf(text, sizeof text, "%.9g", sum);
	return isfinite(sum) ? arena_strdup(csv->arena, text) : "";
}

static struct csv *sum_add(const struct csv *csv, const struct wide *wide) {
	struct csv *out = arena_alloc(csv->arena, 1, sizeof *out);
	*out = *csv;
	out->columns++;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, csv->rows * out->columns + 1, sizeof *out->cells);
	for (size_t c = 0; c < csv->columns; c++)
		out->header[c] = csv->header[c];
	out->header[csv->columns] = "total_s";
	for (size_t r = 0; r < csv->rows; r++) {
		for (size_t c = 0; c < csv->columns; c++)
			out->cells[r * out->columns + c] = csv_cell(csv, r, c);
		out->cells[r * out->columns + csv->columns] = sum_of(csv, wide, r);
	}
	return out;
}

static void header_make(struct making *making) {
	struct csv *out = making->out;
	for (size_t k = 0; k < making->keys; k++)
		out->header[k] = making->csv->header[making->key[k]];
	if (!making->wide->repeats)
		out->header[making->keys] = making->wide->name;
	if (making->wide->directed)
		out->header[making->keys + 1] = making->wide->other ? making->wide->other : "operation";
	if (making->wide->with_serial)
		out->header[making->keys + 1] = "version";
	out->header[out->columns - 1] = value_header(making);
}

struct csv *wide_to_long(const struct csv *csv, const struct wide *wide) {
	if (wide->sum)
		return sum_add(csv, wide);
	struct making making = {.csv = csv, .wide = wide, .out = arena_alloc(csv->arena, 1, sizeof *making.out)};
	struct csv *out = making.out;
	*out = *csv;
	for (size_t c = 0; c < csv->columns; c++)
		if (!is_wide(wide, c))
			making.key[making.keys++] = c;
	out->columns = making.keys + 1 + !wide->repeats + (wide->with_serial || wide->directed);
	out->rows = 0;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, csv->rows * wide->count * out->columns + 1, sizeof *out->cells);
	out->line = arena_alloc(csv->arena, csv->rows * wide->count + 1, sizeof *out->line);
	header_make(&making);
	for (size_t i = 0; i < wide->count; i++) {
		bool serial = is_serial(&making, i);
		bool once = serial && making.keys == 1 && !table_is_problem(csv->header[making.key[0]]);
		for (size_t r = 0; r < (once ? csv->rows > 0 : csv->rows); r++)
			row_add(&making, r, i, serial);
	}
	return out;
}
