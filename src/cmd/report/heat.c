/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heat map of the two parameters with the largest effects. */
#include <math.h>

#include "src/cmd/report/report_impl.h"

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

static void grid_table(struct report *report, const struct grid *grid) {
	const struct study *study = grid->section->view.study;
	const struct study_column *x = study_column(study, grid->column[0]), *y = study_column(study, grid->column[1]);
	const char *titles[] = {x->name, y->name, arena_printf(report->arena, "\1%s", grid->section->label), NULL};
	struct html_table table;
	const char *what = arena_printf(report->arena, "%s by %s and %s", grid->section->label, x->name, y->name);
	html_table_begin_folded(&table, report->html, arena_printf(report->arena, "numbers: %s", what),
	                        arena_printf(report->arena, "Best %s", what), titles);
	for (size_t i = 0; i < grid->side[1]; i++)
		for (size_t k = 0; k < grid->side[0]; k++) {
			char text[48];
			if (isnan(grid->value[i][k]))
				continue;
			report_value(grid->section, grid->value[i][k], text, sizeof text);
			html_table_row(&table);
			html_table_text(&table, "%s", slice_level(report, x, grid->level[0][k]));
			html_table_text(&table, "%s", slice_level(report, y, grid->level[1][i]));
			html_table_number(&table, grid->value[i][k], "%s", text);
		}
	html_table_end(&table);
}

void report_heat(struct report *report, const struct report_section *section) {
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
	grid_table(report, grid);
}
