/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of times beside that of the run: parts of it, what they leave of it, and the names that diagnoses know. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_table_impl.h"

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

void table_parts_add(const struct table *table, size_t row, double seconds, bool rest, json_t *figures) {
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
