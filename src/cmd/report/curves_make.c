/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the curves of a parameter. */
#include <config.h>

#include "src/cmd/report/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"

double curves_number(const struct curves *curves, size_t row) {
	return study_number(curves->study, row, curves->column);
}

double curves_shown(const struct curves *curves, size_t row) {
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
	if (baseline != SIZE_MAX && explain_of_problem((void *)&curves->section->view, curves->study, baseline))
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
			if ((serial || is_without_lock(study, c, r)) && !study_row(study, r)->over &&
			    explain_of_problem((void *)&curves->section->view, study, r))
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
