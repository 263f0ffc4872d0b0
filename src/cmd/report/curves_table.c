/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table with the numbers of the curves. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

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
	bool *seen = mem_alloc(study_column(study, column)->levels + 1, sizeof *seen);
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		int level = study_row(study, row)->level[column];
		if (level == STUDY_ABSENT || seen[level] || !is_chosen(&choice, study, row))
			continue;
		seen[level] = true;
		count++;
	}
	free(seen);
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

/* The best second parameter for `column`, words before numbers; SIZE_MAX for none. */
static size_t slice_split(const struct report_section *section, size_t column) {
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

/* Collects the curves of a parameter. */
double curves_number(const struct curves *curves, size_t row) {
	return study_number(curves->study, row, curves->column);
}

/* the value, as it is shown */
static double curves_shown(const struct curves *curves, size_t row) {
	return report_shown(curves->section, study_row(curves->study, row)->value);
}

double curves_one(const struct curves *curves, const struct slice *slice) {
	for (size_t i = 0; curves->threads && i < slice->count; i++)
		if (curves_number(curves, slice->rows[i]) == 1)
			return study_row(curves->study, slice->rows[i])->value;
	return NAN;
}

double curves_base(const struct curves *curves, const struct slice *slice) {
	if (isfinite(curves->serial_time))
		return curves->serial_time;
	if (curves->threads)
		return curves_one(curves, slice);
	size_t baseline = study_baseline(curves->study);
	if (baseline != SIZE_MAX && explain_of_problem(&curves->section->view, baseline))
		return study_row(curves->study, baseline)->value;
	return js_real_or(json_object_get(curves->section->result, "baseline"), "median", NAN);
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
static size_t curves_serial(const struct curves *curves) {
	const struct study *study = curves->study;
	for (size_t c = 0; c < study_columns(study); c++)
		for (size_t r = 0; r < study_rows(study); r++) {
			int level = study_row(study, r)->level[c];
			bool serial = is_serial_word(study_column(study, c), level) && !has_teams(study, c, level);
			if ((serial || is_without_lock(study, c, r)) && explain_timed(&curves->section->view, r))
				return r;
		}
	return SIZE_MAX;
}

/* Serial code is a line across, not one of the lines. */
static void serial_remove(struct curves *curves) {
	size_t kept = 0;
	for (size_t i = 0; i < curves->count; i++)
		if (curves->count == 1 || curves->slices[i].count != 1 || curves->slices[i].rows[0] != curves->serial)
			curves->slices[kept++] = curves->slices[i];
	curves->count = kept;
}

/* Lines with a speedup come first, so that a line has the same style in both charts. */
static void based_first(struct curves *curves) {
	size_t first = 0;
	for (size_t i = 0; i < curves->count; i++) {
		struct slice slice = curves->slices[i];
		if (!(curves_base(curves, &slice) > 0))
			continue;
		memmove(&curves->slices[first + 1], &curves->slices[first], (i - first) * sizeof slice);
		curves->slices[first++] = slice;
	}
}

static void range_find(struct curves *curves) {
	curves->least = INFINITY;
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count; i++) {
			double value = curves_shown(curves, curves->slices[s].rows[i]);
			curves->least = fmin(curves->least, value);
			curves->most = fmax(curves->most, value);
		}
	if (isfinite(curves->serial_time)) {
		curves->least = fmin(curves->least, report_shown(curves->section, curves->serial_time));
		curves->most = fmax(curves->most, report_shown(curves->section, curves->serial_time));
	}
	curves->scale = report_scale(curves->section, curves->most);
}

size_t curves_thinned(size_t count, size_t i) {
	return count <= CURVES_POINTS ? i : i * (count - 1) / (CURVES_POINTS - 1);
}

/* Threads, or the ranks and devices over which a table has a law. */
static bool is_team(const struct report_section *section, const char *name) {
	const char *team = js_string_or(json_array_get(json_object_get(section->result, "scaling"), 0), "team", "threads");
	return strcmp(name, team) == 0;
}

bool curves_make(struct curves *curves, struct report *report, const struct report_section *section, size_t column) {
	const struct study_column *about = study_column(section->view.study, column);
	*curves = (struct curves){.report = report,
	                          .section = section,
	                          .study = section->view.study,
	                          .column = column,
	                          .split = about->numeric ? slice_split(section, column) : SIZE_MAX,
	                          .name = about->name,
	                          .threads = is_team(section, about->name)};
	curves->one = strcmp(about->name, "threads") == 0 ? "one thread" : arena_printf(report->arena, "%s=1", about->name);
	curves->count = slice_make(report, section, column, curves->split, &curves->slices);
	if (curves->count == 0)
		return false;
	curves->serial = curves->threads ? curves_serial(curves) : SIZE_MAX;
	curves->serial_time = curves->serial != SIZE_MAX ? study_row(curves->study, curves->serial)->value
	                      : section->serial > 0      ? section->serial
	                                                 : NAN;
	if (curves->serial != SIZE_MAX)
		serial_remove(curves);
	based_first(curves);
	range_find(curves);
	return true;
}

/* Over threads, the speedup over one thread stands beside that over the serial code. */
static bool has_single(const struct curves *curves) {
	return curves->threads && isfinite(curves->serial_time);
}

static void row_put(const struct curves *curves, struct html_table *table, const struct slice *slice, size_t row) {
	const struct study_row *one = study_row(curves->study, row);
	double shown = curves_shown(curves, row), spread = exp(1.96 * one->deviation), base = curves_base(curves, slice);
	const char *level =
		slice_level(curves->report, study_column(curves->study, curves->column), one->level[curves->column]);
	html_table_row(table);
	if (study_column(curves->study, curves->column)->numeric)
		html_table_number(table, curves_number(curves, row), "%s", level);
	else
		html_table_text(table, "%s", level);
	if (curves->split != SIZE_MAX)
		html_table_text(table, "%s", slice->name);
	report_cells(table, curves->section, shown, shown / spread, shown * spread);
	html_table_number(table, base / one->value, "%.3gx", base / one->value);
	if (has_single(curves)) {
		double single = curves_one(curves, slice) / one->value;
		html_table_number(table, single, "%.3gx", single);
	}
	mem_auto char *config = results_config(one->config, NULL);
	html_table_text(table, "%s", config);
}

void curves_table(const struct curves *curves) {
	struct report *report = curves->report;
	const struct study_column *column = study_column(curves->study, curves->column);
	const char *titles[9] = {arena_printf(report->arena, "%s%s", column->numeric ? "\1" : "", curves->name)};
	struct html_table table;
	size_t at = 1;
	if (curves->split != SIZE_MAX)
		titles[at++] = study_column(curves->study, curves->split)->name;
	titles[at++] = arena_printf(report->arena, "\1%s", curves->section->label);
	titles[at++] = "\1interval";
	if (isfinite(curves->serial_time))
		titles[at++] = "\1speedup over serial code";
	if (has_single(curves) || !isfinite(curves->serial_time))
		titles[at++] = curves->threads ? "\1speedup over 1 thread" : "\1speedup over the baseline";
	titles[at++] = "\2configuration";
	html_table_begin_folded(
		&table, report->html, arena_printf(report->arena, "numbers: %s by %s", curves->section->label, curves->name),
		arena_printf(report->arena, "Best %s at each value of %s", curves->section->label, curves->name), titles);
	for (size_t s = 0; s < curves->count; s++)
		for (size_t i = 0; i < curves->slices[s].count && i < CURVES_POINTS; i++)
			row_put(curves, &table, &curves->slices[s],
			        curves->slices[s].rows[curves_thinned(curves->slices[s].count, i)]);
	html_table_end(&table);
}
