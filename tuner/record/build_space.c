/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a space from rows. A configuration that occurs twice counts once: the first that worked, else the first. */
#include <ctype.h>
#include <math.h>

#include "base/stop.h"
#include "tuner/record/record_impl.h"
#include "tuner/space/domain.h"

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

static bool is_plain_word(struct value value) {
	return value.type != VALUE_WORD || !strpbrk(value.as.w, "'\"\\");
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
		if (!is_plain_word(value) || listed++ == LISTED_MAX)
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
		unsigned char *seen = mem_alloc(build->columns[by].count, 1);
		if (find_split(build, column, by, seen))
			found = expression(build, by, seen);
		free(seen);
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
