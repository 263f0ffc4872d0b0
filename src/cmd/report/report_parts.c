/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacked bars of the parts of the time (GPU, transfers, CPU; input, upload, compute, download, output) over the
 * parameter with the largest effect, and over the size. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/curves_table_impl.h"

enum { PARTS_MAX = 8, BARS_MAX = 24 };
static const double WHOLE_LEAST = 0.5, WHOLE_MOST = 1.1;

struct parts {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	const char *part[PARTS_MAX];
	size_t part_count;
	size_t rows[BARS_MAX], count;
	const char *names[BARS_MAX];
};

/* Times in seconds that a row reports beside its own. A time of one operation is none of its parts. */
static void names_find(struct parts *parts, size_t row) {
	js_each (figure, json_object_get(study_row(parts->study, row)->detail, "figures")) {
		const char *name = js_string_or(figure, "name", "");
		if (parts->part_count < PARTS_MAX && strcmp(js_string_or(figure, "unit", ""), "s") == 0 &&
		    strncmp(name, "time_per_", 9) != 0 && !json_object_get(figure, "derived"))
			parts->part[parts->part_count++] = name;
	}
}

static double sum_of(const struct parts *parts, size_t row) {
	double sum = 0;
	for (size_t p = 0; p < parts->part_count; p++)
		sum += study_figure(parts->study, row, parts->part[p]);
	return sum;
}

/* Figures that overlap, or that leave out most of the time, are not stacked. */
static bool is_whole(const struct parts *parts) {
	for (size_t i = 0; i < parts->count; i++) {
		double share = sum_of(parts, parts->rows[i]) / study_row(parts->study, parts->rows[i])->value;
		if (!(share >= WHOLE_LEAST && share <= WHOLE_MOST))
			return false;
	}
	return parts->count > 1 && parts->part_count > 1;
}

/* without: the part of the problem that the chart varies, or NULL. */
static void parts_draw(struct parts *parts, const char *over, const char *without) {
	struct arena *arena = parts->report->arena;
	double most = 0;
	for (size_t i = 0; i < parts->count; i++)
		most = fmax(most, sum_of(parts, parts->rows[i]));
	struct report_scale scale = report_scale(parts->section, most);
	const char **names = arena_alloc(arena, parts->count, sizeof *names);
	memcpy(names, parts->names, parts->count * sizeof *names);
	struct chart chart = {.title = report_title(parts->report, parts->section, without,
	                                            arena_printf(arena, "parts of the time by %s", over)),
	                      .x_label = over,
	                      .y_label = report_axis(parts->report, parts->section, scale),
	                      .description = arena_printf(
							  arena, "The parts of the time of the fastest configuration at each value of %s.", over),
	                      .x_names = names,
	                      .x_name_count = parts->count};
	for (size_t p = 0; p < parts->part_count; p++) {
		struct chart_series *part =
			chart_line(arena, &chart, arena_strdup(arena, parts->part[p]), CHART_STACK, parts->count);
		for (size_t i = 0; i < parts->count; i++)
			chart_dot(part, (double)i, study_figure(parts->study, parts->rows[i], parts->part[p]) * scale.factor, NAN,
			          NAN);
	}
	report_figure(parts->report, parts->section, arena_printf(arena, "%s-parts", over), &chart);
}

static struct parts parts_of(struct report *report, const struct report_section *section) {
	return (struct parts){.report = report, .section = section, .study = section->view.study};
}

static void over_param(struct report *report, const struct report_section *section, size_t column) {
	struct parts parts = parts_of(report, section);
	struct slice *slices;
	if (slice_make(report, section, column, SIZE_MAX, &slices) == 0)
		return;
	names_find(&parts, slices[0].rows[0]);
	for (size_t i = 0; i < slices[0].count && parts.count < BARS_MAX; i++) {
		size_t row = slices[0].rows[i];
		parts.rows[parts.count] = row;
		parts.names[parts.count++] =
			slice_level(report, study_column(parts.study, column), study_row(parts.study, row)->level[column]);
	}
	if (is_whole(&parts))
		parts_draw(&parts, study_column(parts.study, column)->name, NULL);
}

/* Problems that differ in their size alone share a chart, which stands with the first of them. */
static bool is_first(const struct report_section *section, size_t column) {
	const struct explain_view *own = &section->view;
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(own->study, rows);
	for (size_t i = 0; i < count; i++)
		if (study_same_problem_but(own->study, rows[i], own->problem_row, column))
			return explain_of_problem(own, rows[i]);
	return true;
}

/* The fastest row of each size. */
static void over_size(struct report *report, const struct report_section *section) {
	struct parts parts = parts_of(report, section);
	size_t column = slice_size(section);
	if (column == SIZE_MAX || !is_first(section, column))
		return;
	for (int level = 0; level < (int)study_column(parts.study, column)->levels; level++) {
		size_t best = SIZE_MAX;
		for (size_t r = 0; r < study_rows(parts.study); r++)
			if (study_row(parts.study, r)->level[column] == level && !study_row(parts.study, r)->over &&
			    study_same_problem_but(parts.study, r, section->view.problem_row, column) &&
			    (best == SIZE_MAX || study_row(parts.study, r)->value < study_row(parts.study, best)->value))
				best = r;
		if (best == SIZE_MAX || parts.count == BARS_MAX)
			continue;
		if (parts.count == 0)
			names_find(&parts, best);
		parts.rows[parts.count] = best;
		parts.names[parts.count++] = slice_level(report, study_column(parts.study, column), level);
	}
	if (is_whole(&parts))
		parts_draw(&parts, study_column(parts.study, column)->name, study_column(parts.study, column)->name);
}

void report_parts(struct report *report, const struct report_section *section) {
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	if (strcmp(section->objective, "time") != 0)
		return;
	if (count)
		over_param(report, section, columns[0]);
	slice_each_problem(report, section, over_size);
}
