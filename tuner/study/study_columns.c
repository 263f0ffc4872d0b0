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
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)object, name, value) {
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
	struct building *columns = mem_alloc(STUDY_COLUMNS_MAX, sizeof *columns);
	size_t count = 0;
	for (size_t r = 0; r < study->row_count; r++) {
		levels_add(columns, &count, study->rows[r].problem, true);
		levels_add(columns, &count, study->rows[r].config, false);
	}
	for (size_t c = 0; c < count; c++) {
		column_keep(study, &columns[c]);
		free(columns[c].level);
	}
	free(columns);
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

/* Questions compare rows with rows, so that a table of any size is reduced to ROWS_MOST: the best rows of each problem,
 * then those whose configurations are nearest to the best one, because series and pairs need these, and an even share
 * of the rest. */

/* Curves and maps show the smallest value over everything else, so that the rows that have it must stay. */
enum { CELLS_MOST = 16 << 20, PAIR_MOST = 1 << 16 };

struct pairs {
	const struct study *study;
	size_t *at;          /* of columns a < b, at a * columns + b: the first cell, SIZE_MAX for none */
	unsigned char *seen; /* of all cells */
	size_t cells;
};

static bool is_kept_pair(const struct study *study, size_t a, size_t b) {
	const struct study_column *x = study_column(study, a), *y = study_column(study, b);
	return !x->is_problem && !y->is_problem && x->levels * y->levels <= PAIR_MOST;
}

static void pairs_make(struct pairs *pairs, const struct study *study) {
	size_t columns = study_columns(study);
	*pairs = (struct pairs){.study = study, .at = mem_alloc(columns * columns + 1, sizeof *pairs->at)};
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t size = study_column(study, a)->levels * study_column(study, b)->levels;
			bool fits = is_kept_pair(study, a, b) && pairs->cells + size <= CELLS_MOST;
			pairs->at[a * columns + b] = fits ? pairs->cells : SIZE_MAX;
			pairs->cells += fits ? size : 0;
		}
	pairs->seen = mem_alloc(pairs->cells + 1, 1);
}

/* Does the row have a pair of values that no earlier row has? */
static bool is_new(struct pairs *pairs, const int *level) {
	size_t columns = study_columns(pairs->study);
	bool any = false;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t at = pairs->at[a * columns + b];
			if (at == SIZE_MAX || level[a] == STUDY_ABSENT || level[b] == STUDY_ABSENT)
				continue;
			at += (size_t)level[a] * study_column(pairs->study, b)->levels + (size_t)level[b];
			any = any || !pairs->seen[at];
			pairs->seen[at] = 1;
		}
	return any;
}

/* Marks the fastest rows of each pair of values, problem by problem and no more than `most`; returns their number.
 * order: rows by problem, then by value; first: whether an index of it begins a problem. */
static size_t study_pairs_keep(const struct study *study, const size_t *order, const bool *first, size_t most,
                               bool *keep) {
	struct pairs pairs;
	size_t problems = 0, kept = 0, of_problem = 0;
	pairs_make(&pairs, study);
	for (size_t i = 0; i < study_rows(study); i++)
		problems += first[i];
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, order[i]);
		if (first[i]) {
			memset(pairs.seen, 0, pairs.cells);
			of_problem = 0;
		}
		if (row->over || of_problem >= most / problems || !is_new(&pairs, row->level))
			continue;
		of_problem++;
		kept += !keep[order[i]];
		keep[order[i]] = true;
	}
	free(pairs.at);
	free(pairs.seen);
	return kept;
}

enum { ROWS_MOST = 2500, PROBLEMS_MOST = 600, APART_MOST = STUDY_COLUMNS_MAX };

struct thinning {
	const struct study *study;
	size_t most;    /* rows */
	char **problem; /* of each row, as text */
	size_t *order;  /* by problem, then by value */
	bool *keep;
	size_t kept;
};

static void keep(struct thinning *thinning, size_t row) {
	if (row == SIZE_MAX || thinning->keep[row])
		return;
	thinning->keep[row] = true;
	thinning->kept++;
}

static int by_problem_and_time(const void *a, const void *b, void *ctx) {
	const struct thinning *thinning = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double p = thinning->study->rows[x].value, q = thinning->study->rows[y].value;
	int order = strcmp(thinning->problem[x], thinning->problem[y]);
	return order ? order : p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Keeps the fastest safe rows; returns the fastest of all. */
static size_t best_keep(struct thinning *thinning) {
	const struct study_row *rows = thinning->study->rows;
	const char *done = NULL;
	size_t best = SIZE_MAX, problems = 0;
	for (size_t i = 0; i < thinning->study->row_count; i++) {
		size_t row = thinning->order[i];
		if (!study_row_safe(&rows[row]) || (done && strcmp(done, thinning->problem[row]) == 0))
			continue;
		done = thinning->problem[row];
		if (problems++ < PROBLEMS_MOST)
			keep(thinning, row);
		if (best == SIZE_MAX || rows[row].value < rows[best].value)
			best = row;
	}
	return best;
}

static size_t apart(const json_t *a, const json_t *b) {
	const char *name;
	json_t *value;
	size_t count = 0, found = 0;
	json_object_foreach((json_t *)a, name, value) {
		const json_t *other = json_object_get(b, name);
		found += other != NULL;
		count += !other || !json_equal(value, other);
	}
	count += json_object_size(b) - found;
	return count < APART_MOST ? count : APART_MOST;
}

/* Keeps `most` of the `of` marked rows, evenly. */
static void share_keep(struct thinning *thinning, const size_t *marks, size_t mark, size_t of, size_t most) {
	for (size_t i = 0, at = 0; i < thinning->study->row_count && of; i++) {
		size_t row = thinning->order[i];
		if (marks[row] != mark)
			continue;
		if (of <= most || (at + 1) * most / of > at * most / of)
			keep(thinning, row);
		at++;
	}
}

static void near_keep(struct thinning *thinning, size_t centre) {
	const struct study *study = thinning->study;
	size_t *far = mem_alloc(study->row_count, sizeof *far), count[APART_MOST + 1] = {0}, left = thinning->most / 2;
	for (size_t r = 0; r < study->row_count; r++)
		count[far[r] = apart(study->rows[r].config, study->rows[centre].config)]++;
	for (size_t d = 0; d <= APART_MOST && left; d++) {
		share_keep(thinning, far, d, count[d], left);
		left -= count[d] < left ? count[d] : left;
	}
	free(far);
}

static void others_keep(struct thinning *thinning) {
	size_t rows = thinning->study->row_count, *kept = mem_alloc(rows, sizeof *kept);
	for (size_t r = 0; r < rows; r++)
		kept[r] = thinning->keep[r];
	if (thinning->kept < thinning->most)
		share_keep(thinning, kept, false, rows - thinning->kept, thinning->most - thinning->kept);
	free(kept);
}

static void pairs_keep(struct thinning *thinning) {
	size_t rows = thinning->study->row_count;
	mem_auto bool *first = mem_alloc(rows, sizeof *first);
	for (size_t i = 0; i < rows; i++)
		first[i] =
			i == 0 || strcmp(thinning->problem[thinning->order[i - 1]], thinning->problem[thinning->order[i]]) != 0;
	thinning->kept += study_pairs_keep(thinning->study, thinning->order, first, thinning->most / 3 * 2, thinning->keep);
}

static void rows_drop(struct study *study, const bool *keep) {
	size_t kept = 0;
	for (size_t r = 0; r < study->row_count; r++)
		if (keep[r])
			study->rows[kept++] = study->rows[r];
	study->left_out = study->row_count - kept;
	study->row_count = kept;
}

void study_thin(struct study *study, size_t winner, size_t baseline) {
	size_t rows = study->row_count, most = study->limit ? study->limit : ROWS_MOST;
	if (rows <= most)
		return;
	struct thinning thinning = {.study = study,
	                            .most = most,
	                            .problem = mem_alloc(rows, sizeof *thinning.problem),
	                            .order = mem_alloc(rows, sizeof *thinning.order),
	                            .keep = mem_alloc(rows, sizeof *thinning.keep)};
	for (size_t r = 0; r < rows; r++) {
		thinning.problem[r] = js_canonical(study->rows[r].problem);
		thinning.order[r] = r;
	}
	qsort_r(thinning.order, rows, sizeof *thinning.order, by_problem_and_time, &thinning);
	size_t best = best_keep(&thinning);
	keep(&thinning, winner);
	keep(&thinning, baseline);
	if (study->limit)
		pairs_keep(&thinning);
	near_keep(&thinning, winner != SIZE_MAX ? winner : best != SIZE_MAX ? best : 0);
	others_keep(&thinning);
	rows_drop(study, thinning.keep);
	for (size_t r = 0; r < rows; r++)
		free(thinning.problem[r]);
	free(thinning.problem);
	free(thinning.order);
	free(thinning.keep);
}
