/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a space from rows. A configuration that occurs twice counts once: the first that worked, else the first. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "base/csv.h"
#include "base/text.h"
#include "base/stop.h"
#include "tuner/record/record_impl.h"

/* A table of which the user says what its columns are: one is the value, others are parameters, and nothing is guessed.
 * A row whose value is no number failed. An empty cell and NaN, which is how pandas writes one, are a parameter that
 * the configuration does not have. */
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
			setting = value_word(arena_strdup(build->scratch, cell));
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
	struct record *record = build->record;
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

/* Finds the values of another parameter under which a parameter is present. */

enum { LISTED_MAX = 64 };

/* For each value of `by`: do rows with it have the parameter? If some do and some do not, `by` alone is not a
 * condition. */
enum { HAS = 1, LACKS = 2 };

static bool has_value(const struct raw_row *raw, size_t column) {
	return column < raw->place_count && raw->places[column] != SPACE_ABSENT;
}

static bool find_split(const struct build *build, size_t column, size_t by, unsigned char *seen) {
	for (size_t i = 0; i < build->row_count; i++) {
		const struct raw_row *raw = &build->rows[i];
		bool has = has_value(raw, column);
		if (!has_value(raw, by)) { /* a condition on an absent parameter does not hold */
			if (has)
				return false;
			continue;
		}
		unsigned char *of = &seen[raw->places[by]];
		*of |= has ? HAS : LACKS;
		if (*of == (HAS | LACKS))
			return false;
	}
	return true;
}

/* Can an expression use it? */
static bool is_plain_name(const char *name) {
	return !isdigit((unsigned char)*name) && name[strspn(name, "_0123456789abcdefghijklmnopqrstuvwxyz"
	                                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '\0';
}
/* NAME in ['a', 2] */
static const char *expression(const struct build *build, size_t by, const unsigned char *seen) {
	const struct column *column = &build->columns[by];
	const char *list = "";
	for (size_t i = 0, listed = 0; i < column->count; i++) {
		struct value value = column->values[i].value;
		char number[64] = "";
		if (seen[i] != HAS)
			continue;
		if (!(value.type != VALUE_WORD || !strpbrk(value.as.w, "'\"\\")) || listed++ == LISTED_MAX)
			return NULL;
		if (value.type == VALUE_WORD)
			list = arena_printf(build->scratch, "%s%s'%s'", list, *list ? ", " : "", value.as.w);
		else if (value_text(value, number, sizeof number) > 0)
			list = arena_printf(build->scratch, "%s%s%s", list, *list ? ", " : "", number);
	}
	return arena_printf(build->scratch, "%s in [%s]", column->name, list);
}

static size_t lacking(const struct build *build, size_t column) {
	size_t count = 0;
	for (size_t i = 0; i < build->row_count; i++)
		count += !has_value(&build->rows[i], column);
	return count;
}

/* An expression that holds exactly in the rows that have the parameter; NULL if none was found. */
static const char *build_condition(const struct build *build, size_t column) {
	const char *found = NULL;
	size_t lacks = lacking(build, column);
	for (size_t by = 0; by < build->column_count && !found && !stop_asked(); by++) {
		/* Fewer gaps than its own, so that conditions cannot be circular. */
		if (by == column || !is_plain_name(build->columns[by].name) || lacking(build, by) >= lacks)
			continue;
		mem_auto unsigned char *seen = mem_alloc(build->columns[by].count, 1);
		if (find_split(build, column, by, seen))
			found = expression(build, by, seen);
	}
	return found;
}

struct table {
	struct build *build;
	size_t width, count;
	int *rows;        /* count x width places in the space */
	uint32_t *source; /* the raw row of each */
	uint32_t *slots;  /* row + 1 */
	size_t mask;
	size_t column[SPACE_PARAMS_MAX]; /* the column of each parameter of the space */
	int *place[SPACE_PARAMS_MAX];    /* the place of each value in the order of the space */
	bool absent[SPACE_PARAMS_MAX];   /* some rows lack it: under the condition, or else marked by an extra value */
	const char *when[SPACE_PARAMS_MAX];
};

static uint64_t row_hash(const int *row, size_t width) {
	uint64_t h = width;
	for (size_t i = 0; i < width; i++) {
		h = (h ^ (uint32_t)row[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h ^ h >> 32;
}

static void fill_row(const struct table *table, const struct raw_row *raw, int *row) {
	for (size_t i = 0; i < table->width; i++) {
		size_t column = table->column[i];
		int place = column < raw->place_count ? raw->places[column] : SPACE_ABSENT;
		if (place != SPACE_ABSENT)
			row[i] = table->place[i][place];
		else
			row[i] = table->when[i] ? SPACE_ABSENT : (int)table->build->columns[column].count;
	}
}

static void add_row(struct table *table, uint32_t number) {
	struct raw_row *rows = table->build->rows;
	int *row = table->rows + table->count * table->width;
	fill_row(table, &rows[number], row);
	size_t at = row_hash(row, table->width) & table->mask;
	for (; table->slots[at]; at = (at + 1) & table->mask) {
		uint32_t same = table->slots[at] - 1;
		if (memcmp(table->rows + same * table->width, row, table->width * sizeof *row) != 0)
			continue;
		if (rows[table->source[same]].row.status != RECORD_CORRECT && rows[number].row.status == RECORD_CORRECT)
			table->source[same] = number;
		return;
	}
	table->slots[at] = (uint32_t)table->count + 1;
	table->source[table->count++] = number;
}

static bool has_place(const struct build *build, size_t row, size_t column) {
	return column < build->rows[row].place_count && build->rows[row].places[column] != SPACE_ABSENT;
}

/* Parameters that occur in no row are left out, even if the file lists them. */
static void find_columns(struct table *table) {
	const struct build *build = table->build;
	for (size_t column = 0; column < build->column_count && !stop_asked(); column++) {
		size_t with = 0;
		for (size_t row = 0; row < build->row_count; row++)
			with += has_place(build, row, column);
		if (!with)
			continue;
		table->absent[table->width] = with < build->row_count;
		if (with < build->row_count)
			table->when[table->width] = build_condition(build, column);
		table->column[table->width++] = column;
	}
}

static int order_listed(const void *left, const void *right, void *context) {
	const struct column *column = context;
	int a = *(const int *)left, b = *(const int *)right;
	const struct column_value *x = &column->values[a], *y = &column->values[b];
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	int order = column->listed ? 0 : value_order(&x->value, &y->value);
	return order ? order : (a > b) - (a < b);
}

/* Copies the values to `sorted`, by rank, or by their order if the file lists none, and their new places to `place`. */
static void column_sort(const struct column *column, struct value *sorted, int *place) {
	mem_auto int *order = mem_alloc(column->count, sizeof *order);
	for (size_t i = 0; i < column->count; i++)
		order[i] = (int)i;
	qsort_r(order, column->count, sizeof *order, order_listed, (void *)column);
	for (size_t i = 0; i < column->count; i++) {
		sorted[i] = column->values[order[i]].value;
		place[order[i]] = (int)i;
	}
}

static int add_param(struct table *table, size_t param, struct err *err) {
	struct build *build = table->build;
	const struct column *column = &build->columns[table->column[param]];
	size_t count = column->count;
	mem_auto struct value *values = mem_alloc(count + 1, sizeof *values);
	table->place[param] = mem_alloc(count, sizeof *table->place[param]);
	column_sort(column, values, table->place[param]);
	if (table->absent[param] && !table->when[param])
		values[count++] = value_word("");
	return space_add_param(build->record->space, column->name, NULL, values, count, table->when[param], err);
}

static void add_rows(struct table *table) {
	size_t slots = 64, rows = table->build->row_count;
	while (slots < rows * 2)
		slots *= 2;
	table->slots = mem_alloc(slots, sizeof *table->slots);
	table->mask = slots - 1;
	table->rows = mem_alloc(rows, table->width * sizeof *table->rows);
	table->source = mem_alloc(rows, sizeof *table->source);
	for (uint32_t i = 0; i < rows && !stop_asked(); i++)
		add_row(table, i);
}

static int make_space(struct table *table, struct err *err) {
	struct space *space = table->build->record->space = space_new();
	space_names_any(space); /* nobody chose them for us */
	const char *names[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < table->width; i++) {
		if (add_param(table, i, err) != 0)
			return -1;
		names[i] = space_param_name(space, i);
	}
	add_rows(table);
	if (stop_asked())
		return stop_fail(err, "while a file was read");
	return space_add_table(space, names, table->width, table->rows, table->count, err) || space_build(space, err) ? -1
	                                                                                                              : 0;
}

/* A row that was read before the last counter was known has fewer counters. */
static const double *all_counters(const struct build *build, const struct raw_row *raw) {
	if (!raw->row.counters || raw->counter_count == build->counter_count)
		return raw->row.counters;
	double *all = arena_alloc(build->record->arena, build->counter_count, sizeof *all);
	for (size_t i = 0; i < build->counter_count; i++)
		all[i] = i < raw->counter_count ? raw->row.counters[i] : NAN;
	return all;
}

static int place_rows(const struct table *table, struct err *err) {
	struct build *build = table->build;
	struct record *record = build->record;
	record->rows = arena_alloc(record->arena, space_valid(record->space), sizeof *record->rows);
	for (size_t i = 0; i < table->count; i++) {
		uint64_t index;
		if (stop_asked())
			return stop_fail(err, "while a file was read");
		if (!space_index(record->space, table->rows + i * table->width, &index))
			return err_set(err, ERR_FAILED, NULL, "a recorded configuration is not in its own space");
		const struct raw_row *raw = &build->rows[table->source[i]];
		record->rows[index] = raw->row;
		record->rows[index].counters = all_counters(build, raw);
	}
	return 0;
}

static void free_table(struct table *table) {
	for (size_t i = 0; i < table->width; i++)
		free(table->place[i]);
	free(table->rows);
	free(table->source);
	free(table->slots);
}

int build_space(struct build *build, struct err *err) {
	struct table table = {.build = build};
	if (build->row_count == 0)
		return err_set(err, ERR_USAGE, "a recorded space needs at least one configuration that worked",
		               "the file does not have any configuration");
	find_columns(&table);
	if (stop_asked())
		return stop_fail(err, "while a file was read");
	if (table.width == 0)
		return err_set(err, ERR_USAGE, NULL, "the configurations do not have any parameters");
	int failed = make_space(&table, err) || place_rows(&table, err) ? -1 : 0;
	free_table(&table);
	struct record *record = build->record;
	record->counter_count = build->counter_count;
	record->counters = arena_alloc(record->arena, build->counter_count, sizeof *record->counters);
	for (size_t i = 0; i < build->counter_count; i++)
		record->counters[i] = build->counter_names[i];
	return failed;
}
