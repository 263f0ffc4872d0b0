/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements of a row besides its time: figures, counters, energy; and columns of times beside that of the run:
 * parts of it, what they leave of it, and the names that diagnoses know. */
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_impl.h"

static const double WHOLE_LEAST = 0.85, WHOLE_MOST = 1.05, SHARE = 0.8, MATTERS = 0.2;

struct alias {
	const char *name, *bases; /* separated by '|' */
};
static const struct alias aliases[] = {
	{"gpu_s", "gpu|gpu time|gpu_time|kernel|kernels|kernel time|kernel_time|kernel_execution"},
	{"transfer_s",
     "transfer|transfers|transfer time|copy|copies|memcpy|data transfer|data_transfer|transfer_time|h2d|d2h|htod|dtoh|"
     "upload|download|host to device|device to host|memcpy h2d|memcpy d2h|h2d copy|d2h copy"},
	{"cpu_s", "cpu|cpu time|cpu_time|host|host time|host_time|cpu update|host update"}};
enum { ALIASES = sizeof aliases / sizeof *aliases, CPU = ALIASES - 1 };

/* Which of the aliases a column is; ALIASES: none. */
static size_t alias_of(const struct table_column *column) {
	const char *base = column->read.base;
	for (size_t i = 0; i < ALIASES && column->read.measure == MEASURE_TIME; i++)
		for (const char *at = aliases[i].bases; *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|'))
			if (strlen(base) == strcspn(at, "|") && strncmp(at, base, strlen(base)) == 0)
				return i;
	return ALIASES;
}

static bool is_time(const struct table_column *column) {
	return column->role == TABLE_FIGURE && column->read.measure == MEASURE_TIME && !*column->read.per;
}

static double cell_of(const struct table *table, size_t row, size_t column) {
	double value;
	bool number = table_number(table->csv, csv_cell(table->csv, row, column), false, &value);
	return number ? value * table->columns[column].read.scale : NAN;
}

/* The sum of the times beside that of the run; NAN if one is missing. */
static double sum_of(const struct table *table, size_t row) {
	double sum = 0;
	for (size_t c = 0; c < table->csv->columns; c++)
		if (is_time(&table->columns[c]))
			sum += cell_of(table, row, c);
	return sum;
}

/* The time of the processor is as long as the run in any program; other names are those of parts. */
static bool are_parts(const struct table *table) {
	bool some = false;
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		if (!is_time(column))
			continue;
		if (alias_of(column) == ALIASES && !table_is_part(column->read.base))
			return false;
		some = some || alias_of(column) != CPU;
	}
	return some;
}

bool table_has_rest(const struct table *table) {
	const struct table_column *value = &table->columns[table->value];
	size_t whole = 0, rows = 0;
	double most = 0;
	if (value->role != TABLE_TIME || *value->read.per || !are_parts(table))
		return false;
	for (size_t r = 0; r < table->csv->rows; r++) {
		double share = sum_of(table, r) / cell_of(table, r, table->value);
		if (isnan(share))
			continue;
		if (!(share <= WHOLE_MOST))
			return false;
		most = fmax(most, share);
		whole += share >= WHOLE_LEAST;
		rows++;
	}
	return rows && (double)whole < SHARE * (double)rows && most >= MATTERS;
}

static void figure_add(json_t *figures, const char *name, double value, bool derived) {
	json_t *one =
		json_pack("{s:s,s:o,s:s,s:s}", "name", name, "value", js_number(value), "unit", "s", "status", "counted");
	if (derived)
		json_object_set_new(one, "derived", json_true());
	json_array_append_new(figures, one);
}

static void parts_add(const struct table *table, size_t row, double seconds, bool rest, json_t *figures) {
	for (size_t i = 0; i < ALIASES; i++) {
		double sum = 0;
		size_t found = 0;
		for (size_t c = 0; c < table->csv->columns; c++)
			if (is_time(&table->columns[c]) && alias_of(&table->columns[c]) == i) {
				sum += cell_of(table, row, c);
				found++;
			}
		if (found && isfinite(sum))
			figure_add(figures, aliases[i].name, sum, true);
	}
	double sum = rest ? sum_of(table, row) : NAN;
	if (isfinite(sum) && isfinite(seconds))
		figure_add(figures, "the rest", fmax(seconds - sum, 0), false);
}

/* The number in a cell, in the unit that it or its column names. */
/* A time may have a unit of its own: "3.4 ms". */
bool table_measured(const struct csv *csv, const char *cell, const struct table_name *name, double *value) {
	char copy[CSV_FIELD_MAX + 1];
	struct table_name unit;
	if (table_number(csv, cell, false, value)) {
		*value *= name->scale;
		return true;
	}
	if (name->measure != MEASURE_RATE && table_clock(cell, value))
		return true;
	snprintf(copy, sizeof copy, "%s", cell);
	size_t digits = strspn(copy, "+-.0123456789eE");
	table_name_read(copy + digits + strspn(copy + digits, " "), &unit);
	if (!digits || unit.measure == MEASURE_NONE || *unit.base ||
	    (name->measure != MEASURE_NONE && unit.measure != name->measure))
		return false;
	copy[digits] = '\0';
	if (!table_number(csv, copy, false, value))
		return false;
	*value *= unit.scale;
	return true;
}

/* "time_per_iteration_us" is the figure time_per_iteration, "Number of iterations" iterations; others keep their names.
 */
static json_t *figure_name(const struct table_column *column) {
	const char *base = column->read.base, *per = strncmp(base, "time/", 5) == 0 ? base + 5 : NULL;
	char key[TABLE_NAME];
	if (table_is_count(column->name)) {
		table_key(column->name, key);
		return json_string(key);
	}
	return per ? json_sprintf("time_per_%s", per) : json_string(column->name);
}

static json_t *numbers_json(const struct table *table, size_t row, enum table_role role) {
	json_t *list = json_array();
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		bool time = column->read.measure == MEASURE_TIME && !*column->read.per;
		double value;
		if (column->role != role || !table_measured(table->csv, csv_cell(table->csv, row, c), &column->read, &value))
			continue;
		json_t *one = json_pack("{s:o,s:o,s:s,s:s}", "name",
		                        role == TABLE_FIGURE ? figure_name(column) : json_string(column->name), "value",
		                        js_number(value), "unit", time ? "s" : "", "status", "counted");
		json_array_append_new(list, one);
	}
	return list;
}

/* The time of one of a number of iterations follows from both, unless the table has it. */
static void each_add(const struct table *table, size_t row, double seconds, json_t *figures) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		const struct table_column *column = &table->columns[c];
		char key[TABLE_NAME];
		double count;
		if (column->role != TABLE_FIGURE || !table_is_count(column->name) ||
		    !table_number(table->csv, csv_cell(table->csv, row, c), false, &count) || !(count > 0))
			continue;
		table_key(column->name, key);
		json_t *name = json_sprintf("time_per_%.*s", (int)(strlen(key) - (key[strlen(key) - 1] == 's')), key);
		json_array_append_new(
			figures, json_pack("{s:o,s:o,s:s}", "name", name, "value", js_number(seconds / count), "unit", "s"));
	}
}

/* Appends the counters of the files that the row names. */
static int files_add(const struct table *table, size_t row, json_t *counters, struct err *err) {
	for (size_t c = 0; c < table->csv->columns; c++) {
		const char *cell = csv_cell(table->csv, row, c);
		if (table->columns[c].role != TABLE_FILE || table_is_missing(cell))
			continue;
		js_auto json_t *read = counted_file_read(table->path, cell, err);
		if (!read)
			return err_prefix(err, "%s:%zu", table->path, table->csv->line[row]);
		json_array_extend(counters, read);
	}
	return 0;
}

static bool is_joules(const char *header) {
	char key[TABLE_NAME];
	const char *unit = strpbrk(header, "([");
	table_words_join(header, key);
	return (unit && (strncmp(unit + 1, "J)", 2) == 0 || strncmp(unit + 1, "J]", 2) == 0)) ||
	       table_among(key, strlen(key), "energy_j joules energy_joules joule");
}

/* "Energy (J)" of a run is what the machine's counters measure as well. */
static void energy_add(const struct table *table, size_t row, double seconds, json_t *detail) {
	for (size_t c = 0; c < table->csv->columns && isfinite(seconds); c++) {
		const struct table_column *column = &table->columns[c];
		double joules;
		if (column->role != TABLE_FIGURE || !is_joules(column->name) ||
		    !table_number(table->csv, csv_cell(table->csv, row, c), false, &joules) || !(joules > 0))
			continue;
		json_object_set_new(detail, "seconds", js_number(seconds));
		json_object_set_new(detail, "energy_j", json_pack("[f]", joules));
		return;
	}
}

/* Returns the other measurements of a row besides its time. New reference; NULL if a file of counters cannot be read.
 * rest: the parts leave some of the time. */
json_t *table_detail(const struct table *table, size_t row, double seconds, bool rest, struct err *err) {
	js_auto json_t *figures = numbers_json(table, row, TABLE_FIGURE),
				   *counters = numbers_json(table, row, TABLE_COUNTER);
	json_t *detail = files_add(table, row, counters, err) ? NULL : json_object();
	if (isfinite(seconds))
		each_add(table, row, seconds, figures);
	parts_add(table, row, seconds, rest, figures);
	if (detail && json_array_size(figures))
		json_object_set(detail, "figures", figures);
	if (detail && json_array_size(counters))
		json_object_set(detail, "counters", counters);
	if (detail && table->columns[table->value].role == TABLE_TIME)
		energy_add(table, row, seconds, detail);
	return detail;
}
