/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/explain/scaling.h"

#include <string.h>

#include "base/json/js.h"
#include "tuner/reading/reading.h"

enum { ENTRIES_MAX = 256 };

/* The settings that all rows of an entry share, apart from threads. */
static json_t *fixed_json(const struct study *study, size_t threads, int split, const struct explain_series *series) {
	json_t *fixed = json_object();
	for (size_t c = 0; c < study_columns(study) && series->count; c++) {
		const struct study_column *column = study_column(study, c);
		int level = study_row(study, series->rows[0])->level[c];
		bool same = c != threads && (int)c != split && !column->is_problem && level != STUDY_ABSENT;
		for (size_t i = 1; i < series->count && same; i++)
			same = study_row(study, series->rows[i])->level[c] == level;
		if (same)
			json_object_set_new(fixed, column->name, value_json(column->level[level]));
	}
	return fixed;
}

static void entry_add(const struct explain_view *view, size_t threads, int split, int level, json_t *list) {
	struct explain_series series;
	explain_series_find(view, threads, split, level, &series);
	size_t least = view->item->table ? 2 : 1; /* a table whose size grows with the team has one team for each */
	if (series.count < least || json_array_size(list) >= ENTRIES_MAX)
		return;
	json_t *entry = explain_law(view, threads, &series), *about = json_object();
	if (split >= 0) {
		const struct study_column *column = study_column(view->study, (size_t)split);
		json_object_set_new(about, column->name, value_json(column->level[level]));
	}
	if (strcmp(study_column(view->study, threads)->name, "threads") != 0)
		json_object_set_new(entry, "team", json_string(study_column(view->study, threads)->name));
	json_object_set_new(entry, "about", about);
	json_object_set_new(entry, "fixed", fixed_json(view->study, threads, split, &series));
	json_array_append_new(list, entry);
}

static void entries_add(const struct explain_view *view, size_t threads, json_t *list) {
	int split = explain_split(view);
	if (split < 0)
		entry_add(view, threads, -1, -1, list);
	for (size_t level = 0; split >= 0 && level < study_column(view->study, (size_t)split)->levels; level++)
		entry_add(view, threads, split, (int)level, list);
}

/* Explains why a fixed number of threads cannot show a law. */
static json_t *refusal(const struct explain_view *view) {
	size_t rows = study_rows(view->study);
	double threads = rows ? study_value_number(view->study, 0, "threads", 0) : 0;
	if (!(threads >= 1))
		return NULL;
	return json_pack("{s:O,s:n,s:o}", "problem", view->problem, "law", "reason",
	                 json_sprintf("every measurement used %.0f thread%s; Amdahl's law needs 3 thread counts, the USL 4",
	                              threads, threads == 1 ? "" : "s"));
}

/* The column of threads; in a table that somebody brought also that of ranks or devices, unless each of them has work
 * of its own. -1: there is none. */
static int team_find(const struct explain_view *view) {
	int threads = study_find(view->study, "threads");
	if (threads >= 0 || !view->item->table || !study_rows(view->study) || reading_work_each(view->study))
		return threads;
	for (size_t c = 0; c < study_columns(view->study); c++) {
		const struct study_column *column = study_column(view->study, c);
		if (!column->is_problem && column->numeric && reading_is_team(column, reading_teams))
			return (int)c;
	}
	return -1;
}

/* The view's problem first. */
json_t *explain_scaling(const struct explain_view *view) {
	int threads = team_find(view);
	json_t *list = json_array();
	if (threads < 0 || !study_column(view->study, (size_t)threads)->numeric) {
		json_array_append_new(list, refusal(view)); /* appending NULL does nothing */
		return list;
	}
	entries_add(view, (size_t)threads, list);
	size_t rows[EXPLAIN_PROBLEMS_MAX], problems = explain_problems(view->study, rows);
	for (size_t i = 0; i < problems; i++) {
		struct explain_view other = *view;
		other.problem_row = rows[i];
		other.problem = study_row(view->study, rows[i])->problem;
		if (!explain_of_problem((void *)view, view->study, rows[i]))
			entries_add(&other, (size_t)threads, list);
	}
	return list;
}
