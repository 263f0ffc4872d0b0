/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/study/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "tuner/study/table_wide.h"

static const double SECONDS_MAX = 1e9, SECONDS_MIN = 1e-15;

struct filling {
	struct table *table;
	struct study_set *set;
	const char *kernel, *device;
	const json_t *machine;
	size_t kernel_column; /* SIZE_MAX: the table does not have one */
	size_t values;
	bool rest; /* the parts leave some of the time */
	struct err *err;
};

static int cell_refuse(const struct filling *filling, size_t row, const char *column, const char *cell,
                       const char *why) {
	const char *hint = NULL;
	if (strchr(cell, ',') && filling->table->csv->delimiter != ';')
		hint = "write 12400 or 12.4, because a comma is neither a point nor a mark of thousands here";
	else if (strstr(cell, "±") || strstr(cell, "+-") || strstr(cell, "+/-"))
		hint = "write the deviation into a column of its own, or one row for each run";
	return err_set(filling->err, ERR_USAGE, hint, "%s:%zu: %.60s \"%.40s\" %s", filling->table->path,
	               filling->table->csv->line[row], column, cell, why);
}

static json_t *setting_json(const struct table *table, size_t column, const char *cell) {
	double number;
	if (!table->columns[column].numbers || !table_number(table->csv, cell, true, &number))
		return value_json(value_word(cell));
	bool whole = number == floor(number) && fabs(number) < 9e15;
	return value_json(whole ? value_int((int64_t)number) : value_real(number));
}

/* The members of one role. New reference. */
static json_t *settings_json(const struct table *table, size_t row, enum table_role role) {
	json_t *object = json_object();
	for (size_t c = 0; c < table->csv->columns; c++) {
		const char *cell = csv_cell(table->csv, row, c);
		if (table->columns[c].role == role && *cell)
			json_object_set_new(object, table->columns[c].name, setting_json(table, c, cell));
	}
	return object;
}

/* A failure if a column says so. */
static const char *status_of(const struct table *table, size_t row) {
	for (size_t c = 0; c < table->csv->columns; c++)
		if (table->columns[c].role == TABLE_STATUS && *csv_cell(table->csv, row, c) &&
		    table_is_missing(csv_cell(table->csv, row, c)))
			return "runtime";
	return "correct";
}

static struct study_item *item_of(const struct filling *filling, size_t row) {
	const char *kernel = filling->kernel;
	if (filling->kernel_column != SIZE_MAX && *csv_cell(filling->table->csv, row, filling->kernel_column))
		kernel = csv_cell(filling->table->csv, row, filling->kernel_column);
	return study_set_item(filling->set, kernel, filling->device, filling->machine);
}

static int row_add(struct filling *filling, size_t row) {
	const struct table *table = filling->table;
	const struct table_column *column = &table->columns[table->value];
	const char *cell = csv_cell(table->csv, row, table->value);
	struct study_trial trial = {.phase = "sweep", .status = status_of(table, row)};
	double seconds = NAN;
	if (table_is_missing(cell))
		trial.status = "runtime";
	else if (!table_measured(table->csv, cell, &column->read, &seconds))
		return cell_refuse(filling, row, column->name, cell, "is not a number");
	else if (!(seconds > 0))
		return cell_refuse(filling, row, column->name, cell, "is not positive");
	if (column->role == TABLE_RATE)
		seconds = 1 / seconds;
	if (isfinite(seconds) && (seconds > SECONDS_MAX || seconds < SECONDS_MIN))
		return cell_refuse(filling, row, column->name, cell, "is out of range");
	json_t *problem = settings_json(table, row, TABLE_PROBLEM), *config = settings_json(table, row, TABLE_PARAM);
	json_t *detail = table_detail(table, row, seconds, filling->rest, filling->err);
	trial.problem = problem;
	trial.config = config;
	trial.detail = json_object_size(detail) ? detail : NULL;
	trial.value = seconds;
	trial.samples = &seconds;
	trial.sample_count = isfinite(seconds);
	filling->values += detail && isfinite(seconds) && study_set_add(item_of(filling, row), &trial);
	if (detail && !isfinite(seconds))
		study_set_add(item_of(filling, row), &trial);
	int failed = detail ? 0 : -1;
	json_decref(problem);
	json_decref(config);
	json_decref(detail);
	return failed;
}

/* Names of kernels that occur once each are versions of one thing, which the rows compare. */
static bool is_kernel_column(const struct table *table, size_t column) {
	return strcasecmp(table->columns[column].name, "kernel") == 0 && table->columns[column].role == TABLE_IGNORED;
}

static int fill(struct filling *filling) {
	size_t before = study_set_count(filling->set);
	for (size_t c = 0; c < filling->table->csv->columns; c++)
		if (is_kernel_column(filling->table, c))
			filling->kernel_column = c;
	for (size_t r = 0; r < filling->table->csv->rows; r++)
		if (row_add(filling, r))
			return -1;
	if (filling->values == 0)
		return err_set(filling->err, ERR_USAGE, NULL, "%s: no row of the table has a time", filling->table->path);
	table_describe(filling->table, filling->set, before);
	return 0;
}

static int table_read(struct study_set *set, struct table *table, struct err *err) {
	struct study_reading reading = table->reading ? *table->reading : (struct study_reading){0};
	const char *names[TABLE_PROBLEM_NAMES];
	json_t *machine = table_machine(table->csv, err);
	char *kernel = table_kernel(table->path, table->csv);
	if (reading.problem_count == 0) {
		reading.problem = names;
		reading.problem_count = table_noted_problem(table->csv, names);
	}
	table->reading = &reading;
	int failed = machine ? table_roles(table, err) : -1;
	if (!failed) {
		struct filling filling = {.table = table,
		                          .set = set,
		                          .kernel = kernel,
		                          .device = table_device(table),
		                          .machine = machine,
		                          .kernel_column = SIZE_MAX,
		                          .rest = table_has_rest(table),
		                          .err = err};
		failed = fill(&filling);
	}
	table->reading = NULL;
	free(kernel);
	json_decref(machine);
	return failed;
}

static int hint_add(struct err *err) {
	return err && !*err->hint ? err_hint(err, "doc/tables.md describes the form of a table") : -1;
}

/* Headers that are bare numbers do not say of what. */
static int wide_refuse(const char *path, const struct wide *wide, struct err *err) {
	return err_set(err, ERR_USAGE, "add a line that names the parameter, for example \"# columns: threads\"",
	               "%s: the columns \"%.20s\", \"%.20s\" .. are numbers without a name", path, wide->value[0],
	               wide->value[1]);
}

int study_set_table(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err) {
	if (strcmp(study_set_objective(set), "time") != 0)
		return 0;
	struct csv *csv = csv_read(text, size, path, err);
	if (!csv)
		return hint_add(err);
	table_cells_rewrite(csv);
	struct wide wide;
	struct table table = {.csv = csv, .path = path, .reading = reading};
	if (wide_find(csv, table_note(csv, "columns"), &wide)) {
		if (wide.unnamed && wide_refuse(path, &wide, err)) {
			csv_free(csv);
			return -1;
		}
		table.csv = wide_to_long(csv, &wide);
		table.wide = wide.sum ? "part" : wide.repeats ? "run" : wide.name;
		table.assumed_unit = wide.assumed;
	}
	table.columns = arena_alloc(csv->arena, table.csv->columns, sizeof *table.columns);
	int failed = table_read(set, &table, err);
	csv_free(csv);
	return failed ? hint_add(err) : 0;
}
