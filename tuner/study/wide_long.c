/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A wide table as one with a row for each time, rate or speed-up. */
#include <math.h>

#include "tuner/study/study_impl.h"

enum { ROWS_LEAST = 3 };
/* How much more a speed-up is that was gained. */
static const double GAINED = 1.5, REPEATED = 2;

/* Serial code measured again takes a little more or less. */
static const double AGAIN = 0.3;

struct making {
	const struct csv *csv;
	const struct wide *wide;
	struct csv *out;
	size_t key[CSV_COLUMNS_MAX], keys; /* columns that stay */
	size_t too_short;                  /* so many rows at the beginning */
};

static bool is_wide(const struct wide *wide, size_t column) {
	for (size_t i = 0; i < wide->count; i++)
		if (wide->column[i] == column)
			return true;
	return false;
}

/* Do two rows agree in all columns that describe the problem? */
static bool is_same_problem(const struct making *making, size_t a, size_t b) {
	const struct csv *csv = making->csv;
	for (size_t k = 0; k < making->keys; k++)
		if (table_is_problem(csv->header[making->key[k]]) && !table_is_same(csv, making->key[k], a, b))
			return false;
	return true;
}

static bool is_same_time(const struct csv *csv, size_t a, size_t b, size_t column) {
	return table_is_same(csv, column, a, b) ||
	       fabs(log(table_positive(csv, a, column) / table_positive(csv, b, column))) <= AGAIN;
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

/* Is there something before the times that may tell rows apart? */
static bool is_told_apart(const struct making *making) {
	bool apart = false;
	for (size_t k = 0; k < making->keys; k++)
		apart = apart || !table_is_figure(making->csv->header[making->key[k]]);
	return apart;
}

/* Rows without anything that tells them apart measure the same again if each column changes little. */
static bool are_repeats(const struct making *making) {
	size_t i = 0;
	while (i < making->wide->count && table_span(making->csv, making->wide->column[i]) <= REPEATED)
		i++;
	return i == making->wide->count;
}

/* A copy with one more column, which is still empty. */
static struct csv *widened(const struct csv *csv, const char *header) {
	struct csv *out = arena_alloc(csv->arena, 1, sizeof *out);
	*out = *csv;
	out->columns++;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, csv->rows * out->columns + 1, sizeof *out->cells);
	memcpy(out->header, csv->header, csv->columns * sizeof *out->header);
	out->header[csv->columns] = header;
	for (size_t r = 0; r < csv->rows; r++)
		memcpy(out->cells + r * out->columns, csv->cells + r * csv->columns, csv->columns * sizeof *out->cells);
	return out;
}

/* Otherwise each row is a problem of its own, of which the table says no more. */
static void row_number(struct making *making) {
	size_t column = making->csv->columns;
	struct csv *csv = widened(making->csv, "instance");
	for (size_t r = 0; r < csv->rows; r++)
		table_cell_set(csv, r, column, arena_printf(csv->arena, "row %zu", r + 1));
	making->csv = csv;
	making->key[making->keys++] = column;
}

static const char *time_of(const struct csv *csv, const struct wide *wide, size_t row, size_t at) { /* in its unit */
	struct table_name name;
	double number;
	table_name_read(csv->header[wide->column[at]], &name);
	const char *cell = csv_cell(csv, row, wide->column[at]);
	bool other = name.measure == MEASURE_TIME && name.scale != wide->measure.scale;
	return other && table_number(csv, cell, false, &number)
	           ? arena_printf(csv->arena, "%.9g", number * name.scale / wide->measure.scale)
	           : cell;
}

static bool is_zero(const char *cell) {
	return *cell && strspn(cell, "0.,") == strlen(cell);
}

/* The rows from the first one on in which some time is 0: shorter than the clock tells, so that the others cannot be
 * compared with it. A 0 behind times that were told was rather not measured. */
static size_t short_find(const struct csv *csv, const struct wide *wide) {
	size_t most = 0;
	for (size_t i = 0; i < wide->count && wide->measure.measure == MEASURE_TIME; i++) {
		size_t r = 0;
		while (r < csv->rows && is_zero(csv_cell(csv, r, wide->column[i])))
			r++;
		most = r > most ? r : most;
	}
	return most;
}

static void short_note(const struct making *making) {
	struct csv *out = making->out;
	if (making->too_short && out->note_count < CSV_NOTES_MAX)
		out->notes[out->note_count++] =
			arena_printf(out->arena, "left out: %zu row%s with a time of 0, which is too short for the clock",
		                 making->too_short, making->too_short == 1 ? "" : "s");
}

static void row_add(struct making *making, size_t row, size_t at, bool serial) {
	struct csv *out = making->out;
	const char **cells = out->cells + out->rows * out->columns;
	for (size_t k = 0; k < making->keys; k++) {
		size_t part_of = making->wide->part_of[making->key[k]];
		cells[k] = (serial && !table_is_problem(making->csv->header[making->key[k]])) || (part_of && part_of != at + 1)
		               ? ""
		               : csv_cell(making->csv, row, making->key[k]);
	}
	if (!making->wide->repeats)
		cells[making->keys] = making->wide->value[at];
	if (making->wide->directed)
		cells[making->keys + 1] = making->wide->direction[at];
	if (making->wide->with_serial)
		cells[making->keys + 1] = at + 1 == making->wide->count ? "serial" : "parallel";
	const char *time = time_of(making->csv, making->wide, row, at);
	cells[out->columns - 1] = is_zero(time) || row < making->too_short ? "" : time;
	for (size_t r = 0; r < out->rows && serial; r++)
		if (memcmp(out->cells + r * out->columns, cells, out->columns * sizeof *cells) == 0)
			return;
	out->line[out->rows++] = making->csv->line[row];
}

/* The parts of a row; "" if one of them is missing. */
static const char *sum_of(const struct csv *csv, const struct wide *wide, size_t row) {
	double sum = 0, one;
	for (size_t i = 0; i < wide->count; i++)
		sum += table_number(csv, time_of(csv, wide, row, i), false, &one) ? one * wide->measure.scale : NAN;
	return isfinite(sum) ? arena_printf(csv->arena, "%.9g", sum) : "";
}

static struct csv *sum_add(const struct csv *csv, const struct wide *wide) {
	struct csv *out = widened(csv, "total_s");
	for (size_t r = 0; r < csv->rows; r++)
		table_cell_set(out, r, csv->columns, sum_of(csv, wide, r));
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
	out->header[out->columns - 1] = making->wide->header;
}

/* Is serial code 1 in all rows, and other code more, but for no team of this size more than it has members? Times are
 * not longer by so much. */
static bool are_over_serial(const struct csv *csv, const struct wide *wide) {
	bool serial = false;
	double most = 0, members = NAN;
	for (size_t c = 0; c < csv->columns; c++)
		for (size_t r = 0; r < csv->rows && table_is_team(csv->header[c]); r++)
			members = fmax(members, table_positive(csv, r, c));
	for (size_t i = 0; i < wide->count; i++) {
		size_t ones = 0;
		for (size_t r = 0; r < csv->rows; r++) {
			double own = table_positive(csv, r, wide->column[i]);
			ones += own == 1;
			most = fmax(most, own);
		}
		serial = serial || (ones == csv->rows && table_has_word(wide->value[i], table_serial_words));
	}
	return serial && csv->rows >= ROWS_LEAST && most >= GAINED && members > 0 && !table_exceeds_team(most, members);
}

/* Are the columns teams, of which one member has 1 in all rows, and nearly all others more, up to what they may gain?
 */
static bool are_over_one(const struct csv *csv, const struct wide *wide) {
	size_t gains = 0, all = 0;
	if (!wide->name || !wide->numbered || !table_is_team(wide->name) || strtod(wide->value[0], NULL) != 1)
		return false;
	for (size_t r = 0; r < csv->rows; r++)
		for (size_t i = 0; i < wide->count; i++) {
			double own = table_positive(csv, r, wide->column[i]), members = strtod(wide->value[i], NULL);
			if (table_exceeds_team(own, members) || (i == 0 && own != 1))
				return false;
			gains += own >= GAINED;
			all += i > 0;
		}
	return 2 * gains > all && csv->rows >= ROWS_LEAST;
}

/* Speedups over the first row, which has 1 everywhere, or over serial code. */
static bool are_speedups(const struct csv *csv, const struct wide *wide) {
	bool threads = false, ones = csv->rows > 1;
	if (wide->measure.measure != MEASURE_NONE)
		return wide->measure.measure == MEASURE_SPEEDUP;
	for (size_t c = 0; c < csv->columns; c++)
		threads = threads || table_is_threads(csv->header[c]);
	for (size_t i = 0; i < wide->count && ones; i++)
		ones = table_own(csv, 0, wide->column[i]) == 1;
	return (threads && ones) || are_over_serial(csv, wide);
}

/* Where a header such as "MB/s read", "mutex (Mops/s)", "MFLOPS (n=512)" and "tiled_gflops" names its rate. */
static const char *rate_of(const struct csv *csv, const char *header) {
	const char *unit = strpbrk(header, "(["), *last;
	if (unit && strchr(unit, '=')) { /* what it is measured for, and no unit */
		size_t behind = strcspn(unit, ")]"), length = (size_t)(unit - header);
		header = arena_printf(csv->arena, "%.*s%s", (int)(length - (length && header[length - 1] == ' ')), header,
		                      unit[behind] ? unit + behind + 1 : "");
		unit = NULL;
	}
	const char *comma = strrchr(header, ',');
	if (!unit && comma && comma[1])
		return comma + 1 + strspn(comma + 1, " ");
	if (!unit && strchr(header, '/') && strcspn(header, " ") > strcspn(header, "/"))
		unit = arena_printf(csv->arena, "%.*s", (int)strcspn(header, " "), header);
	last = strrchr(header, ' ') ? strrchr(header, ' ') : strrchr(header, '_');
	return unit ? unit : last ? last + 1 : header;
}

/* The header of the times. A rate keeps its unit as it was written. */
static const char *header_of(const struct csv *csv, const struct wide *wide) {
	if (wide->speedups)
		return "speedup";
	if (wide->measure.measure != MEASURE_RATE) {
		const char *unit = table_time_unit(wide->measure.scale);
		return *wide->measure.per ? arena_printf(csv->arena, "time (%s/%s)", unit, wide->measure.per)
		                          : arena_printf(csv->arena, "time_%s", unit);
	}
	if (strcmp(wide->measure.per, "unit") == 0)
		return "throughput";
	const char *unit =
		wide->unit ? wide->unit : rate_of(csv, csv->header[wide->column[wide->count - 1 - wide->with_serial]]);
	return arena_printf(csv->arena, strchr("([", *unit) ? "rate %s" : "rate (%s)", unit);
}

static void measure_decide(const struct csv *csv, struct wide *wide) {
	wide->over_one = wide->measure.measure == MEASURE_NONE && are_over_one(csv, wide);
	wide->speedups = wide->over_one || are_speedups(csv, wide);
	if (wide->measure.measure == MEASURE_NONE && !wide->speedups && wide->told == MEASURE_RATE)
		table_name_read("throughput", &wide->measure);
	wide->assumed = wide->measure.measure == MEASURE_NONE && !wide->speedups;
	wide->header = header_of(csv, wide);
}

struct csv *wide_to_long(const struct csv *csv, struct wide *wide) {
	measure_decide(csv, wide);
	if (wide->sum)
		return sum_add(csv, wide);
	struct making making = {.csv = csv,
	                        .wide = wide,
	                        .out = arena_alloc(csv->arena, 1, sizeof *making.out),
	                        .too_short = short_find(csv, wide)};
	struct csv *out = making.out;
	*out = *csv;
	for (size_t c = 0; c < csv->columns; c++) {
		bool index = !*csv->header[c] && csv->rows && isfinite(table_positive(csv, 0, c)); /* of R and pandas */
		if (!is_wide(wide, c) && wide->part_of[c] != SIZE_MAX && !index)
			making.key[making.keys++] = c;
	}
	if (!wide->repeats && !is_told_apart(&making) && !are_repeats(&making))
		row_number(&making);
	out->columns = making.keys + 1 + !wide->repeats + (wide->with_serial || wide->directed);
	out->rows = 0;
	out->header = arena_alloc(csv->arena, out->columns, sizeof *out->header);
	out->cells = arena_alloc(csv->arena, csv->rows * wide->count * out->columns + 1, sizeof *out->cells);
	out->line = arena_alloc(csv->arena, csv->rows * wide->count + 1, sizeof *out->line);
	header_make(&making);
	short_note(&making);
	for (size_t i = 0; i < wide->count; i++) {
		bool serial = is_serial(&making, i);
		bool once = serial && making.keys == 1 && !table_is_problem(making.csv->header[making.key[0]]);
		for (size_t r = 0; r < (once ? csv->rows > 0 : csv->rows); r++)
			row_add(&making, r, i, serial);
	}
	return out;
}
