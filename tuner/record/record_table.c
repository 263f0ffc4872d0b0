/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of which the user says what its columns are: one is the value, others are parameters, and nothing is guessed.
 * A row whose value is no number failed. An empty cell and NaN, which is how pandas writes one, are a parameter that
 * the configuration does not have. */
#include <math.h>
#include <strings.h>

#include "base/csv.h"
#include "base/text.h"
#include "base/stop.h"
#include "tuner/record/record_impl.h"

enum { SAID = 200 };

struct reader {
	const char *path;
	const struct csv *csv;
	const struct record_choice *choice;
	size_t value;
	int column[CSV_COLUMNS_MAX]; /* of the build; -1: not a parameter */
};

static int refuse(const struct reader *reader, const char *name, struct err *err) {
	const struct csv *csv = reader->csv;
	const char *near = near_word(name, csv->header, csv->columns);
	char names[SAID] = "";
	err_set(err, ERR_USAGE, NULL, "%s does not have a column \"%.60s\"", reader->path, name);
	if (near)
		return err_hint(err, "did you mean %s?", near);
	for (size_t c = 0; c < csv->columns && strlen(names) + 1 < sizeof names; c++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", c ? ", " : "", csv->header[c]);
	return err_hint(err, "it has %s", names);
}

static size_t column_find(const struct csv *csv, const char *name) {
	size_t c = 0;
	while (c < csv->columns && strcmp(csv->header[c], name) != 0)
		c++;
	return c;
}

static int param_add(struct reader *reader, size_t c, struct build *build, struct scan *scan) {
	const struct scan_text name = {.at = reader->csv->header[c], .size = strlen(reader->csv->header[c])};
	if (build_column_find(build, &name) >= 0 && reader->column[c] < 0)
		return scan_fail(scan, "rename one of them", "two columns have the name \"%.60s\"", name.at) - 1;
	return (reader->column[c] = build_column(build, scan, &name)) < 0 ? -1 : 0;
}

/* The value, and those that are parameters: the ones that the user names, else all others with a name. */
static int columns_find(struct reader *reader, struct build *build, struct scan *scan, struct err *err) {
	const struct csv *csv = reader->csv;
	const struct record_choice *choice = reader->choice;
	for (size_t c = 0; c < csv->columns; c++)
		reader->column[c] = -1;
	reader->value = column_find(csv, choice->value);
	if (reader->value == csv->columns)
		return refuse(reader, choice->value, err);
	for (size_t i = 0; i < choice->parameter_count; i++) {
		size_t c = column_find(csv, choice->parameters[i]);
		if (c == csv->columns)
			return refuse(reader, choice->parameters[i], err);
		if (c == reader->value)
			return err_set(err, ERR_USAGE, NULL, "\"%.60s\" cannot be the value and a parameter", choice->value);
		if (param_add(reader, c, build, scan))
			return -1;
	}
	for (size_t c = 0; c < csv->columns && choice->parameter_count == 0; c++)
		if (c != reader->value && *csv->header[c] && param_add(reader, c, build, scan))
			return -1;
	return 0;
}

/* A comma is the point of numbers where the semicolon separates them. */
static struct value cell_value(const struct csv *csv, size_t row, size_t column) {
	const char *cell = csv_cell(csv, row, column);
	char copy[CSV_FIELD_MAX + 1], *comma;
	if (csv->delimiter != ';' || strchr(cell, '.') || !strchr(cell, ','))
		return value_parse(cell);
	snprintf(copy, sizeof copy, "%s", cell);
	while ((comma = strchr(copy, ',')))
		*comma = '.';
	struct value value = value_parse(copy);
	return value.type == VALUE_WORD ? value_word(cell) : value;
}

static bool row_read(const struct reader *reader, size_t row, struct build *build, struct scan *scan) {
	const struct csv *csv = reader->csv;
	struct record_row *out = build_begin(build);
	struct value value = cell_value(csv, row, reader->value);
	out->value = value.type == VALUE_WORD ? NAN : value_number(value);
	out->status = isfinite(out->value) ? RECORD_CORRECT : RECORD_RUNTIME;
	for (size_t c = 0; c < csv->columns; c++) {
		const char *cell = csv_cell(csv, row, c);
		if (reader->column[c] < 0 || !*cell || strcasecmp(cell, "nan") == 0)
			continue;
		struct value setting = cell_value(csv, row, c);
		if (setting.type == VALUE_REAL && !isfinite(setting.as.r))
			setting = value_word(cell);
		if (setting.type == VALUE_WORD)
			setting = value_word(arena_strdup(build_scratch(build), cell));
		build_value(build, reader->column[c], setting);
	}
	return build_end(build, scan);
}

static char *kernel_of(const char *path, struct arena *arena) {
	const char *slash = strrchr(path, '/');
	char *name = arena_strdup(arena, slash ? slash + 1 : path), *dot = strchr(name, '.');
	if (dot && dot != name)
		*dot = '\0';
	return name;
}

static struct record *table_build(struct reader *reader, struct build *build, struct err *err) {
	struct scan scan = scan_of("", 0, reader->path, err); /* for the messages of the build */
	struct record *record = build_record(build);
	record->kernel = kernel_of(reader->path, record->arena);
	record->objective = arena_strdup(record->arena, reader->choice->value);
	record->unit = reader->choice->unit ? arena_strdup(record->arena, reader->choice->unit) : "";
	if (columns_find(reader, build, &scan, err))
		return NULL;
	for (size_t r = 0; r < reader->csv->rows && !stop_asked(); r++)
		if (!row_read(reader, r, build, &scan))
			return NULL;
	if (stop_asked()) {
		stop_fail(err, "while a file was read");
		return NULL;
	}
	return build_finish(build, reader->path, err);
}

struct record *record_table(const char *path, const struct record_choice *choice, struct err *err) {
	size_t size;
	mem_auto char *text = record_text(path, &size, err);
	struct csv *csv = text ? csv_read(text, size, path, err) : NULL;
	if (!csv)
		return NULL;
	struct reader reader = {.path = path, .csv = csv, .choice = choice};
	struct build *build = build_new(choice);
	struct record *record = table_build(&reader, build, err);
	if (record)
		record->format = "table";
	build_free(build);
	csv_free(csv);
	return record;
}
