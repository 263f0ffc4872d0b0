/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of the parameters: a map of the two that matter most, the worth of each, interactions of pairs, the path from
 * the baseline to the winner, and the neighbours of the winner. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain_text.h"
#include "src/cmd/report/report_impl.h"

enum { BARS_MAX = 20 };

/* Error bars may be this many times as long as the longest bar. */
static const double ROOM = 1.3;

/* The worth of a parameter: how many times as long the worst of its values takes as the best. */
static void bars_draw(struct report *report, const struct report_section *section, const json_t *effects) {
	bool cut = false;
	double most = 0;
	const char **names = arena_alloc(report->arena, BARS_MAX, sizeof *names);
	struct chart chart = {.title = report_title(report, section, NULL, "what each parameter is worth"),
	                      .x_label = "parameter",
	                      .y_label = "worst / best value (x)",
	                      .x_names = names};
	struct chart_series *bars = chart_line(report->arena, &chart, NULL, CHART_BARS, BARS_MAX);
	js_each (effect, effects)
		most = fmax(most, js_real_or(effect, "ratio", 0));
	js_each (effect, effects) {
		double value = js_real_or(effect, "ratio", NAN), high = report_end(json_object_get(effect, "ci"), 1);
		if (!isfinite(value) || bars->count == BARS_MAX)
			continue;
		cut = cut || high > ROOM * most;
		names[bars->count] = js_string_or(effect, "param", "?");
		chart_dot(bars, (double)bars->count, value, report_end(json_object_get(effect, "ci"), 0),
		          high > ROOM * most ? ROOM * most : high);
	}
	if (bars->count == 0)
		return;
	chart.x_name_count = bars->count;
	chart.description = arena_printf(
		report->arena,
		"How many times as long the worst value of each parameter takes as its best, up to %.3gx. Error bars are 95 %% "
		"intervals%s.",
		most, cut ? ", cut at the upper edge; the numbers have them whole" : "");
	report_figure(report, section, "effects", &chart);
}

static void effects_table(struct report *report, const struct report_section *section, const json_t *effects) {
	static const struct column columns[] = {COLUMN("parameter", "param", .absent = "?"),
	                                        NUMBER("\1share", "share", "%.3g %%", 100),
	                                        NUMBER("\1worst / best", "ratio", "%.3gx", 1),
	                                        NUMBER("\1from", "ci.0", "%.3gx", 1),
	                                        NUMBER("\1to", "ci.1", "%.3gx", 1),
	                                        COLUMN("best value", "best", .text = explain_value_text),
	                                        COLUMN("worst value", "worst", .text = explain_value_text),
	                                        COLUMN("winner", "winner", .text = explain_value_text),
	                                        NUMBER("\1values", "seen", "%.0f", 1),
	                                        {0}};
	const json_t *winner = js_at(section->result, "winner.config");
	js_auto json_t *rows = json_array();
	js_each (effect, effects) {
		json_t *row = json_copy(effect);
		json_object_set(row, "winner", json_object_get(winner, js_string_or(effect, "param", "")));
		json_array_append_new(rows, row);
	}
	html_rows(report->html, "numbers: worth", "Worth of each parameter", columns, rows);
}

static void pairs_table(struct report *report, const json_t *pairs) {
	static const struct column columns[] = {
		COLUMN("parameter", "params.0", .absent = "?"), COLUMN("with", "params.1", .absent = "?"),
		NUMBER("\1share", "share", "%.3g %%", 100),     NUMBER("\1from", "share_ci.0", "%.3g %%", 100),
		NUMBER("\1to", "share_ci.1", "%.3g %%", 100),   {0}};
	html_rows(report->html, "interactions of parameters",
	          "Share of the variance of each pair, beyond the shares of its two parameters", columns, pairs);
}

static void path_table(struct report *report, const json_t *result) {
	static const struct column columns[] = {NUMBER("\1step", NULL, "%.0f", 1),
	                                        COLUMN("\2change", "set", .text = column_config),
	                                        COLUMN("\2before", "was", .text = column_config),
	                                        NUMBER("\1speedup", "ratio", "%.3gx", 1),
	                                        NUMBER("\1from", "ci.0", "%.3gx", 1),
	                                        NUMBER("\1to", "ci.1", "%.3gx", 1),
	                                        COLUMN("source", "measured", .words = {"predicted", "measured"}),
	                                        {0}};
	bool faster = verdict_is_faster(result) || json_object_get(result, "table");
	html_rows(report->html, "from the baseline to the winner, one change at a time",
	          faster ? "The settings that make it fast" : "The settings that differ, which are not proven to be faster",
	          columns, json_object_get(result, "path"));
}

static void landscape_describe(struct report *report, const json_t *landscape) {
	static const struct {
		const char *verdict, *sentence;
	} sentences[] = {
		{"fragile", "The winner is on a peak: a neighbouring value of some parameter is clearly slower."},
		{"plateau", "The winner is on a plateau: its neighbours are about as fast."},
		{"partly flat", "For some parameters, the neighbours of the winner are about as fast."},
		{"unclear", "The measurements do not show whether the neighbours of the winner are as fast."},
	};
	const char *verdict = verdict_said(landscape, "");
	for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
		if (strcmp(verdict, sentences[i].verdict) == 0)
			html_put(report->html, "<p>%s</p>", sentences[i].sentence);
}

/* The heat map of the two parameters with the largest effects. */
enum { SIDE_MAX = 24, CELLS_LEAST = 4 };
static const double WIDE = 4;

struct grid {
	const struct report_section *section;
	size_t column[2];
	int level[2][SIDE_MAX]; /* the levels that are shown */
	size_t side[2];
	double value[SIDE_MAX][SIDE_MAX]; /* [y][x], as shown; NAN if not measured */
	size_t cells;
	double least, most;
};

/* The least value of each level; NAN if it was not measured on this problem. */
static double *leasts_new(const struct report_section *section, size_t column) {
	const struct study *study = section->view.study;
	size_t levels = study_column(study, column)->levels;
	double *least = mem_alloc(levels + 1, sizeof *least);
	for (size_t i = 0; i < levels; i++)
		least[i] = NAN;
	for (size_t i = 0; i < study_rows(study); i++) {
		int level = study_row(study, i)->level[column];
		if (level != STUDY_ABSENT && explain_timed(&section->view, i))
			least[level] = fmin(least[level], study_row(study, i)->value);
	}
	return least;
}

/* Chooses all measured levels if they fit, else evenly spaced ones and the best. */
static void side_choose(struct grid *grid, size_t axis) {
	const struct study *study = grid->section->view.study;
	size_t levels = study_column(study, grid->column[axis])->levels, known = 0, at = 0, best = 0;
	mem_auto double *least = leasts_new(grid->section, grid->column[axis]);
	for (size_t i = 0; i < levels; i++) {
		known += !isnan(least[i]);
		best = least[i] < least[best] || isnan(least[best]) ? i : best;
	}
	for (size_t i = 0; i < levels; i++) {
		if (isnan(least[i]))
			continue;
		bool chosen = known <= SIDE_MAX || (at + 1) * (SIDE_MAX - 1) / known > at * (SIDE_MAX - 1) / known || i == best;
		at++;
		if (chosen && grid->side[axis] < SIDE_MAX)
			grid->level[axis][grid->side[axis]++] = (int)i;
	}
}

static size_t index_of(const struct grid *grid, size_t axis, int level) {
	size_t i = 0;
	while (i < grid->side[axis] && grid->level[axis][i] != level)
		i++;
	return i;
}

static void grid_fill(struct grid *grid) {
	const struct study *study = grid->section->view.study;
	for (size_t y = 0; y < SIDE_MAX; y++)
		for (size_t x = 0; x < SIDE_MAX; x++)
			grid->value[y][x] = NAN;
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, i);
		size_t x = index_of(grid, 0, row->level[grid->column[0]]), y = index_of(grid, 1, row->level[grid->column[1]]);
		if (x == grid->side[0] || y == grid->side[1] || !explain_timed(&grid->section->view, i))
			continue;
		double *cell = &grid->value[y][x], shown = report_shown(grid->section, row->value);
		grid->cells += isnan(*cell);
		*cell = grid->section->maximize ? fmax(*cell, shown) : fmin(*cell, shown);
	}
	for (size_t y = 0; y < grid->side[1]; y++)
		for (size_t x = 0; x < grid->side[0]; x++) {
			grid->most = fmax(grid->most, grid->value[y][x]);
			grid->least = fmin(grid->least, grid->value[y][x]);
		}
}

static const char **names_of(struct report *report, const struct grid *grid, size_t axis) {
	const char **names = arena_alloc(report->arena, grid->side[axis] + 1, sizeof *names);
	for (size_t i = 0; i < grid->side[axis]; i++)
		names[i] =
			slice_level(report, study_column(grid->section->view.study, grid->column[axis]), grid->level[axis][i]);
	return names;
}

/* NULL: it is not known, or on none of the cells. */
static const struct chart_mark *grid_winner(struct report *report, const struct grid *grid) {
	size_t row = slice_winner(grid->section);
	if (row == SIZE_MAX)
		return NULL;
	const int *level = study_row(grid->section->view.study, row)->level;
	size_t x = index_of(grid, 0, level[grid->column[0]]), y = index_of(grid, 1, level[grid->column[1]]);
	if (x == grid->side[0] || y == grid->side[1])
		return NULL;
	return chart_mark(report->arena, (double)x, (double)y);
}

static void grid_draw(struct report *report, const struct grid *grid) {
	const struct report_section *section = grid->section;
	struct report_scale scale = report_scale(section, grid->most);
	struct chart_heat *heat = arena_alloc(report->arena, 1, sizeof *heat);
	double *values = arena_alloc(report->arena, grid->side[0] * grid->side[1] + 1, sizeof *values);
	const char *x = study_column(section->view.study, grid->column[0])->name,
			   *y = study_column(section->view.study, grid->column[1])->name;
	for (size_t i = 0; i < grid->side[1]; i++)
		for (size_t k = 0; k < grid->side[0]; k++)
			values[i * grid->side[0] + k] = grid->value[i][k] * scale.factor;
	*heat = (struct chart_heat){.x_names = names_of(report, grid, 0),
	                            .y_names = names_of(report, grid, 1),
	                            .width = grid->side[0],
	                            .height = grid->side[1],
	                            .values = values,
	                            .value_label = report_axis(report, section, scale),
	                            .value_log = grid->least > 0 && grid->most > WIDE * grid->least};
	const struct chart chart = {
		.title =
			report_title(report, section, NULL, arena_printf(report->arena, "%s by %s and %s", section->label, x, y)),
		.x_label = x,
		.y_label = y,
		.description = arena_printf(
			report->arena,
			"The best %s measured for each pair of %s and %s, the two parameters with the largest effects; "
			"%zu of %zu pairs were measured.",
			section->label, x, y, grid->cells, grid->side[0] * grid->side[1]),
		.heat = heat,
		.winner = grid_winner(report, grid),
	};
	report_figure(report, section, arena_printf(report->arena, "%s-%s", x, y), &chart);
}

static void report_heat(struct report *report, const struct report_section *section) {
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	struct grid *grid;
	if (count < 2) {
		if (count && !report_is_program(section)) /* the parameters of a program are the user's choice */
			report_absent(report, "Only one parameter was varied; a heat map needs two. This command varies more:",
			              report_advice(report, section, "tune", ""));
		return;
	}
	grid = arena_alloc(report->arena, 1, sizeof *grid);
	*grid = (struct grid){.section = section, .column = {columns[0], columns[1]}, .least = INFINITY};
	side_choose(grid, 0);
	side_choose(grid, 1);
	grid_fill(grid);
	if (grid->cells < CELLS_LEAST)
		return;
	grid_draw(report, grid);
}

static void effects_put(struct report *report, const struct report_section *section) {
	const json_t *effects = json_object_get(section->result, "effects");
	report_heat(report, section);
	report_heading(report, "Worth of each parameter");
	if (json_array_size(effects) == 0) {
		report_absent(report, "No parameter was varied, so the effects are unknown. This command measures them:",
		              report_advice(report, section, "tune", ""));
		return;
	}
	bars_draw(report, section, effects);
	effects_table(report, section, effects);
	pairs_table(report, json_object_get(section->result, "interactions"));
	path_table(report, section->result);
	if (!json_object_get(section->result, "table"))
		landscape_describe(report, json_object_get(section->result, "landscape"));
}

const struct report_part report_effects = {REPORT_EXPLAINED, effects_put};

/* Stacked bars of the parts of the time (GPU, transfers, CPU; input, upload, compute, download, output) over the
 * parameter with the largest effect, and over the size. */
enum { PARTS_MAX = 8, STACKS_MAX = 24 };

static const double WHOLE_LEAST = 0.5, WHOLE_MOST = 1.1;

struct parts {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	const char *part[PARTS_MAX];
	size_t part_count;
	size_t rows[STACKS_MAX], count;
	const char *names[STACKS_MAX];
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
	for (size_t i = 0; i < slices[0].count && parts.count < STACKS_MAX; i++) {
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
		if (best == SIZE_MAX || parts.count == STACKS_MAX)
			continue;
		if (parts.count == 0)
			names_find(&parts, best);
		parts.rows[parts.count] = best;
		parts.names[parts.count++] = slice_level(report, study_column(parts.study, column), level);
	}
	if (is_whole(&parts))
		parts_draw(&parts, study_column(parts.study, column)->name, study_column(parts.study, column)->name);
}

static void parts_put(struct report *report, const struct report_section *section) {
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	if (strcmp(section->objective, "time") != 0)
		return;
	if (count)
		over_param(report, section, columns[0]);
	slice_each_problem(report, section, over_size);
}

const struct report_part report_parts = {REPORT_EXPLAINED, parts_put};
