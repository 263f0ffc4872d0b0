/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <strings.h>

#include "base/json/js.h"
#include "tuner/study/study_impl.h"

enum { LEVELS_MAX = 4096 };

struct building {
	const char *name;
	bool is_problem, numeric;
	struct value *level;
	size_t levels, room;
};

static void level_add(struct building *column, const json_t *json) {
	struct value value;
	if (!value_from_json(json, &value))
		return;
	for (size_t i = 0; i < column->levels; i++)
		if (value_equal(column->level[i], value))
			return;
	if (column->levels == LEVELS_MAX)
		return;
	column->level = mem_room(column->level, column->levels, &column->room, sizeof *column->level);
	column->numeric = column->numeric && value.type != VALUE_WORD;
	column->level[column->levels++] = value;
}

static struct building *column_of(struct building *columns, size_t *count, const char *name, bool is_problem) {
	for (size_t i = 0; i < *count; i++)
		if (columns[i].is_problem == is_problem && strcmp(columns[i].name, name) == 0)
			return &columns[i];
	if (*count == STUDY_COLUMNS_MAX)
		return NULL;
	columns[*count] = (struct building){.name = name, .is_problem = is_problem, .numeric = true};
	return &columns[(*count)++];
}

static void levels_add(struct building *columns, size_t *count, const json_t *object, bool is_problem) {
	js_members (name, value, object) {
		struct building *column = column_of(columns, count, name, is_problem);
		if (column)
			level_add(column, value);
	}
}

static int by_number(const void *a, const void *b) {
	double x = value_number(*(const struct value *)a), y = value_number(*(const struct value *)b);
	return (x > y) - (x < y);
}

static void column_keep(struct study *study, struct building *column) {
	struct study_column *kept = &study->columns[study->column_count];
	if (column->levels < 2)
		return;
	if (column->numeric)
		qsort(column->level, column->levels, sizeof *column->level, by_number);
	struct value *level = arena_alloc(study->arena, column->levels, sizeof *level);
	memcpy(level, column->level, column->levels * sizeof *level);
	*kept = (struct study_column){.name = arena_strdup(study->arena, column->name),
	                              .is_problem = column->is_problem,
	                              .numeric = column->numeric,
	                              .levels = column->levels,
	                              .level = level};
	study->column_count++;
}

static int level_of(const struct study_column *column, const struct study_row *row) {
	struct value value;
	const json_t *from = column->is_problem ? row->problem : row->config;
	if (!value_from_json(json_object_get(from, column->name), &value))
		return STUDY_ABSENT;
	for (size_t i = 0; i < column->levels; i++)
		if (value_equal(column->level[i], value))
			return (int)i;
	return STUDY_ABSENT;
}

static int levels_compare(const struct study *study, size_t a, size_t b, bool problem) {
	const int *x = study->rows[a].level, *y = study->rows[b].level;
	for (size_t c = 0; c < study->column_count; c++)
		if (study->columns[c].is_problem == problem && x[c] != y[c])
			return x[c] < y[c] ? -1 : 1;
	return 0;
}

static int by_problem(const void *a, const void *b, void *study) {
	return levels_compare(study, *(const size_t *)a, *(const size_t *)b, true);
}

static int by_config(const void *a, const void *b, void *study) {
	return levels_compare(study, *(const size_t *)a, *(const size_t *)b, false);
}

/* Rows are compared very often, by every diagnosis, so that what they share is found only once. */
static void rows_number(struct study *study, bool problem) {
	size_t *order = mem_alloc(study->row_count + 1, sizeof *order), number = 0;
	for (size_t r = 0; r < study->row_count; r++)
		order[r] = r;
	qsort_r(order, study->row_count, sizeof *order, problem ? by_problem : by_config, study);
	for (size_t i = 0; i < study->row_count; i++) {
		struct study_row *row = &study->rows[order[i]];
		number += i > 0 && levels_compare(study, order[i - 1], order[i], problem) != 0;
		*(problem ? &row->problem_number : &row->config_number) = number;
	}
	free(order);
}

void study_columns_make(struct study *study) {
	mem_auto struct building *columns = mem_alloc(STUDY_COLUMNS_MAX, sizeof *columns);
	size_t count = 0;
	for (size_t r = 0; r < study->row_count; r++) {
		levels_add(columns, &count, study->rows[r].problem, true);
		levels_add(columns, &count, study->rows[r].config, false);
	}
	for (size_t c = 0; c < count; c++) {
		column_keep(study, &columns[c]);
		free(columns[c].level);
	}
	for (size_t r = 0; r < study->row_count; r++) {
		int *level = arena_alloc(study->arena, study->column_count + 1, sizeof *level);
		for (size_t c = 0; c < study->column_count; c++)
			level[c] = level_of(&study->columns[c], &study->rows[r]);
		study->rows[r].level = level;
	}
	rows_number(study, true);
	rows_number(study, false);
}

size_t study_columns(const struct study *study) {
	return study->column_count;
}

const struct study_column *study_column(const struct study *study, size_t column) {
	return &study->columns[column];
}

bool study_same_problem(const struct study *study, size_t a, size_t b) {
	return study->rows[a].problem_number == study->rows[b].problem_number;
}

bool study_same_config(const struct study *study, size_t a, size_t b) {
	return study->rows[a].config_number == study->rows[b].config_number;
}

bool study_same_problem_but(const struct study *study, size_t a, size_t b, size_t column) {
	const int *x = study->rows[a].level, *y = study->rows[b].level;
	for (size_t c = 0; c < study->column_count; c++)
		if (c != column && study->columns[c].is_problem && x[c] != y[c])
			return false;
	return true;
}

int study_find(const struct study *study, const char *name) {
	for (size_t c = 0; c < study->column_count; c++)
		if (strcmp(study->columns[c].name, name) == 0)
			return (int)c;
	/* A table that somebody typed may have "Schedule". */
	for (size_t c = 0; c < study->column_count; c++)
		if (strcasecmp(study->columns[c].name, name) == 0)
			return (int)c;
	return -1;
}

double study_number(const struct study *study, size_t row, size_t column) {
	int level = study->rows[row].level[column];
	return level == STUDY_ABSENT ? NAN : value_number(study->columns[column].level[level]);
}

bool study_value(const struct study *study, size_t row, const char *name, struct value *value) {
	const struct study_row *one = &study->rows[row];
	return value_from_json(json_object_get(one->config, name), value) ||
	       value_from_json(json_object_get(one->problem, name), value);
}

double study_value_number(const struct study *study, size_t row, const char *name, double fallback) {
	struct value value;
	double number = study_value(study, row, name, &value) ? value_number(value) : NAN;
	return isnan(number) ? fallback : number;
}
