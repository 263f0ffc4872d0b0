/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of the parameters: a map of the two that matter most, the worth of each, interactions of pairs, the path from
 * the baseline to the winner, and the neighbours of the winner. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain_text.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

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

static char *value_words(const json_t *value, double *number) {
	char text[80];
	(void)number;
	explain_value_text(value, text, sizeof text);
	return mem_strdup(text);
}

static void effects_table(struct report *report, const struct report_section *section, const json_t *effects) {
	static const struct column columns[] = {COLUMN("parameter", "param", .absent = "?"),
	                                        NUMBER("\1share", "share", "%.3g %%", 100),
	                                        NUMBER("\1worst / best", "ratio", "%.3gx", 1),
	                                        NUMBER("\1from", "ci.0", "%.3gx", 1),
	                                        NUMBER("\1to", "ci.1", "%.3gx", 1),
	                                        COLUMN("best value", "best", .text = value_words),
	                                        COLUMN("worst value", "worst", .text = value_words),
	                                        COLUMN("winner", "winner", .text = value_words),
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
	bool faster = verdict_of(result) == VERDICT_FASTER || json_object_get(result, "table");
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
	double *least = leasts_new(grid->section, grid->column[axis]);
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
	free(least);
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

void report_effects(struct report *report, const struct report_section *section) {
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
	landscape_describe(report, json_object_get(section->result, "landscape"));
}
