/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a study: the least time at each value of a parameter; and two charts of their own, weak scaling efficiency
 * and the parts of the time. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"

enum { SPLIT_LEVELS_MAX = 8, LEVELS_LEAST = 2 };

struct choice {
	const struct report_section *section;
	size_t split;
	int level;
};

static bool is_chosen(void *ctx, const struct study *study, size_t row) {
	const struct choice *choice = ctx;
	if (!explain_timed(&choice->section->view, row))
		return false;
	return choice->split == SIZE_MAX || study_row(study, row)->level[choice->split] == choice->level;
}

const char *slice_level(struct report *report, const struct study_column *column, int level) {
	char text[80] = "-";
	if (level != STUDY_ABSENT)
		value_text(column->level[level], text, sizeof text);
	return arena_strdup(report->arena, text);
}

/* A word says what it is, a number needs the parameter's name: "P=2". */
static const char *level_name(struct report *report, const struct study_column *column, int level) {
	const char *text = slice_level(report, column, level);
	return column->numeric ? arena_printf(report->arena, "%s=%s", column->name, text) : text;
}

static bool slice_add(struct report *report, const struct report_section *section, size_t column,
                      const struct choice *choice, struct slice *slice) {
	const struct study *study = section->view.study;
	size_t room = study_column(study, column)->levels + 1;
	*slice = (struct slice){.rows = arena_alloc(report->arena, room, sizeof *slice->rows), .least = INFINITY};
	slice->count = study_envelope(study, column, is_chosen, (void *)choice, slice->rows);
	for (size_t i = 0; i < slice->count; i++)
		slice->least = fmin(slice->least, study_row(study, slice->rows[i])->value);
	if (choice->split != SIZE_MAX)
		slice->name = level_name(report, study_column(study, choice->split), choice->level);
	return slice->count > 0;
}

static int by_least(const void *a, const void *b) {
	const struct slice *x = a, *y = b;
	return (x->least > y->least) - (x->least < y->least);
}

size_t slice_make(struct report *report, const struct report_section *section, size_t column, size_t split,
                  struct slice **slices) {
	size_t lines = split == SIZE_MAX ? 1 : study_column(section->view.study, split)->levels, count = 0;
	*slices = arena_alloc(report->arena, lines + 1, sizeof **slices);
	for (size_t i = 0; i < lines; i++) {
		const struct choice choice = {section, split, (int)i};
		count += slice_add(report, section, column, &choice, &(*slices)[count]);
	}
	qsort(*slices, count, sizeof **slices, by_least);
	return count;
}

/* The number of levels of the column on this problem. */
static size_t slice_levels(const struct report_section *section, size_t column) {
	const struct study *study = section->view.study;
	struct choice choice = {section, SIZE_MAX, 0};
	mem_auto bool *seen = mem_alloc(study_column(study, column)->levels + 1, sizeof *seen);
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		int level = study_row(study, row)->level[column];
		if (level == STUDY_ABSENT || seen[level] || !is_chosen(&choice, study, row))
			continue;
		seen[level] = true;
		count++;
	}
	return count;
}

size_t slice_params(const struct report_section *section, size_t columns[STUDY_COLUMNS_MAX]) {
	const struct study *study = section->view.study;
	size_t count = 0;
	js_each (effect, json_object_get(section->result, "effects")) {
		int column = study_find(study, js_string_or(effect, "param", ""));
		if (column >= 0 && count < STUDY_COLUMNS_MAX && slice_levels(section, (size_t)column) >= LEVELS_LEAST)
			columns[count++] = (size_t)column;
	}
	return count;
}

static bool is_split(const struct report_section *section, size_t column, size_t other) {
	size_t levels = other == column ? 0 : slice_levels(section, other);
	return levels >= LEVELS_LEAST && levels <= SPLIT_LEVELS_MAX;
}

size_t slice_split(const struct report_section *section, size_t column) {
	int words = explain_split(&section->view);
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	if (words >= 0 && (size_t)words != column && slice_levels(section, (size_t)words) >= LEVELS_LEAST)
		return (size_t)words;
	for (size_t i = 0; i < count; i++)
		if (study_column(section->view.study, columns[i])->numeric && is_split(section, column, columns[i]))
			return columns[i];
	return SIZE_MAX;
}

size_t slice_winner(const struct report_section *section) {
	bool won = verdict_of(section->entry) == VERDICT_FASTER;
	return explain_row_of(&section->view, won ? json_object_get(section->entry, "config") : NULL);
}

void slice_each_problem(struct report *report, const struct report_section *section,
                        void (*fn)(struct report *report, const struct report_section *section)) {
	const struct study *study = section->view.study;
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(study, rows), own = 0;
	for (size_t i = 0; i < report->section_count; i++)
		own += report->sections[i].view.study == study;
	if (own > 1 || count < 2) {
		fn(report, section);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct report_section one = *section;
		one.view.problem_row = rows[i];
		one.view.problem = study_row(study, rows[i])->problem;
		one.problem = (json_t *)one.view.problem; /* only read */
		fn(report, &one);
	}
}

static bool is_serial_word(const struct study_column *column, int level) {
	static const char *const words[] = {"serial", "sequential", "seq"};
	for (size_t i = 0; level != STUDY_ABSENT && !column->is_problem && !column->numeric && i < 3; i++)
		if (column->level[level].type == VALUE_WORD && strcmp(column->level[level].as.w, words[i]) == 0)
			return true;
	return false;
}

/* A value "serial" of a parameter such as first_touch also has teams: it is not serial code. */
static bool has_teams(const struct study *study, size_t column, int level) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[column] == level && js_real_or(study_row(study, r)->config, "threads", 1) != 1)
			return true;
	return false;
}

/* One thread without a lock. */
static bool is_without_lock(const struct study *study, size_t column, size_t row) {
	const struct study_column *one = study_column(study, column);
	int level = study_row(study, row)->level[column];
	return strcmp(one->name, "lock") == 0 && level != STUDY_ABSENT && one->level[level].type == VALUE_WORD &&
	       strcmp(one->level[level].as.w, "none") == 0 &&
	       js_real_or(study_row(study, row)->config, "threads", NAN) == 1;
}

/* The row of serial code on this problem, which has a word such as "serial" and only runs with one thread, or needs no
 * lock; SIZE_MAX: there is none. */
size_t slice_serial(const struct report_section *section) {
	const struct study *study = section->view.study;
	for (size_t c = 0; c < study_columns(study); c++)
		for (size_t r = 0; r < study_rows(study); r++) {
			int level = study_row(study, r)->level[c];
			bool serial = is_serial_word(study_column(study, c), level) && !has_teams(study, c, level);
			if ((serial || is_without_lock(study, c, r)) && explain_timed(&section->view, r))
				return r;
		}
	return SIZE_MAX;
}

size_t slice_size(const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t own = section->view.problem_row, found = SIZE_MAX, most = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		size_t others = 0;
		if (!study_column(study, c)->is_problem || !study_column(study, c)->numeric)
			continue;
		for (size_t r = 0; r < study_rows(study); r++)
			others += study_row(study, r)->level[c] != study_row(study, own)->level[c] &&
			          study_same_problem_but(study, r, own, c);
		found = others > most ? c : found;
		most = others > most ? others : most;
	}
	return found;
}
