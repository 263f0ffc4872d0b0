/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the other measurements of a row besides its time: figures, counters, energy. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/study/counted_file.h"
#include "tuner/study/table.h"

/* A time may have a unit of its own: "3.4 ms". */
bool table_measured(const struct csv *csv, const char *cell, const struct table_name *name, double *value) {
	char copy[CSV_FIELD_MAX + 1];
	struct table_name unit;
	if (table_number(csv, cell, false, value)) {
		*value *= name->scale;
		return true;
	}
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
		json_t *read = counted_file_read(table->path, cell, err);
		if (!read)
			return err_prefix(err, "%s:%zu", table->path, table->csv->line[row]);
		json_array_extend(counters, read);
		json_decref(read);
	}
	return 0;
}

/* "Energy (J)" of a run is what the machine's counters measure as well. */
static void energy_add(const struct table *table, size_t row, double seconds, json_t *detail) {
	for (size_t c = 0; c < table->csv->columns && isfinite(seconds); c++) {
		const struct table_column *column = &table->columns[c];
		double joules;
		if (column->role != TABLE_FIGURE || !table_is_joules(column->name) ||
		    !table_number(table->csv, csv_cell(table->csv, row, c), false, &joules) || !(joules > 0))
			continue;
		json_object_set_new(detail, "seconds", js_number(seconds));
		json_object_set_new(detail, "energy_j", json_pack("[f]", joules));
		return;
	}
}

json_t *table_detail(const struct table *table, size_t row, double seconds, bool rest, struct err *err) {
	json_t *figures = numbers_json(table, row, TABLE_FIGURE), *counters = numbers_json(table, row, TABLE_COUNTER);
	json_t *detail = files_add(table, row, counters, err) ? NULL : json_object();
	if (isfinite(seconds))
		each_add(table, row, seconds, figures);
	table_parts_add(table, row, seconds, rest, figures);
	if (detail && json_array_size(figures))
		json_object_set(detail, "figures", figures);
	if (detail && json_array_size(counters))
		json_object_set(detail, "counters", counters);
	if (detail && table->columns[table->value].role == TABLE_TIME)
		energy_add(table, row, seconds, detail);
	json_decref(figures);
	json_decref(counters);
	return detail;
}
