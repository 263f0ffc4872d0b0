/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parallel coordinates (Inselberg, The plane with parallel coordinates, 1985): an axis for each of the parameters that
 * matter most and one for the value, and a line for each configuration. A line says its configuration when it is
 * pointed at; the winner is drawn last and thick. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/report.h"
#include "src/cmd/report/slice.h"
#include "src/show/results.h"

/* In units of the canvas that all charts have. */
enum {
	AXES_MAX = 5,
	LINES_MAX = 250,
	WIDTH = 440,
	TOP = 24,
	BOTTOM = 224,
	HEIGHT = 264,
	LEVELS_MAX = 9,
	MARGIN = 40,
	ROOM = 36
};

/* Shares of the colours that are seen on light and on dark pages. */
static const double DULL = 0.35, BRIGHT = 0.75;

struct axes {
	const struct study *study;
	const struct report_section *section;
	size_t column[AXES_MAX], count; /* the value has the axis after them */
	double low, high;               /* logarithms of the values */
};

static bool is_drawn(const struct axes *axes, size_t row) {
	return !study_row(axes->study, row)->over && explain_of_problem((void *)&axes->section->view, axes->study, row);
}

static bool is_absent(const struct axes *axes, size_t column) {
	for (size_t row = 0; row < study_rows(axes->study); row++)
		if (is_drawn(axes, row) && study_row(axes->study, row)->level[column] == STUDY_ABSENT)
			return true;
	return false;
}

/* Do the lines differ in it? Other problems may have more of its values. */
static bool is_varied(const struct axes *axes, size_t column) {
	size_t first = SIZE_MAX;
	for (size_t row = 0; row < study_rows(axes->study); row++) {
		if (!is_drawn(axes, row))
			continue;
		if (first == SIZE_MAX)
			first = row;
		if (study_row(axes->study, row)->level[column] != study_row(axes->study, first)->level[column])
			return true;
	}
	return false;
}

/* The parameters in the order of their effects. */
static void axes_choose(struct axes *axes) {
	size_t i;
	json_t *effect;
	json_array_foreach(json_object_get(axes->section->result, "effects"), i, effect) {
		int column = study_find(axes->study, js_string_or(effect, "param", ""));
		if (column >= 0 && axes->count < AXES_MAX && is_varied(axes, (size_t)column))
			axes->column[axes->count++] = (size_t)column;
	}
	axes->low = INFINITY;
	axes->high = -INFINITY;
	for (size_t row = 0; row < study_rows(axes->study); row++) {
		if (!is_drawn(axes, row))
			continue;
		double value = log(study_row(axes->study, row)->value);
		axes->low = fmin(axes->low, value);
		axes->high = fmax(axes->high, value);
	}
}

static double x_of(const struct axes *axes, size_t axis) {
	return MARGIN + (double)(WIDTH - 2 * MARGIN) * (double)axis / (double)axes->count;
}

static double level_y(const struct study_column *column, int level) {
	double share = level < 0 ? 0 : ((double)level + 0.5) / (double)column->levels;
	return BOTTOM - (BOTTOM - TOP) * share;
}

/* The fastest is at the top. */
static double share_of(const struct axes *axes, size_t row) {
	double value = log(study_row(axes->study, row)->value);
	return axes->high > axes->low ? (value - axes->low) / (axes->high - axes->low) : 0;
}

static void line_put(struct report *report, const struct axes *axes, size_t row, bool winner) {
	const struct study_row *one = study_row(axes->study, row);
	char *path = mem_strdup(""), *longer, value[48], colour[8];
	for (size_t axis = 0; axis <= axes->count; axis++) {
		double y = axis == axes->count
		               ? TOP + (BOTTOM - TOP) * share_of(axes, row)
		               : level_y(study_column(axes->study, axes->column[axis]), one->level[axes->column[axis]]);
		longer = mem_printf("%s%c%.1f %.1f", path, axis ? 'L' : 'M', x_of(axes, axis), y);
		free(path);
		path = longer;
	}
	snprintf(colour, sizeof colour, "#%06x", colour_map(DULL + (BRIGHT - DULL) * (1 - share_of(axes, row))));
	report_value(axes->section, report_shown(axes->section, one->value), value, sizeof value);
	char *config = results_config(one->config, NULL);
	html_begin(report->html, "path", "class", winner ? "best" : NULL, "d", path, "stroke", winner ? NULL : colour,
	           NULL);
	html_element(report->html, "title", NULL, "%s%s: %s", winner ? "the winner, " : "", config, value);
	html_end(report->html);
	free(config);
	free(path);
}

static void text_put(struct report *report, double x, double y, const char *anchor, const char *text) {
	char *fit = text_fit(text, anchor[0] == 'm' ? 78 : anchor[0] == 'e' ? 120 : 60);
	html_begin(report->html, "text", "x", arena_printf(report->arena, "%.1f", x), "y",
	           arena_printf(report->arena, "%.1f", y), "text-anchor", anchor, NULL);
	html_text(report->html, fit);
	html_end(report->html);
	free(fit);
}

static void axis_put(struct report *report, double x) {
	const char *at = arena_printf(report->arena, "%.1f", x);
	html_begin(report->html, "line", "x1", at, "x2", at, "y1", arena_printf(report->arena, "%d", TOP), "y2",
	           arena_printf(report->arena, "%d", BOTTOM), NULL);
	html_end(report->html);
}

static void param_axis_put(struct report *report, const struct axes *axes, size_t axis) {
	const struct study_column *column = study_column(axes->study, axes->column[axis]);
	size_t step = (column->levels - 1) / LEVELS_MAX + 1;
	double x = x_of(axes, axis);
	axis_put(report, x);
	text_put(report, x, BOTTOM + 24, "middle", column->name);
	for (size_t level = 0; level < column->levels; level += step) {
		char text[64];
		value_text(column->level[level], text, sizeof text);
		text_put(report, x + 4, level_y(column, (int)level) + 4, "start", *text ? text : "(empty)");
	}
	if (is_absent(axes, axes->column[axis]))
		text_put(report, x + 4, BOTTOM + 4, "start", "none");
}

static void value_axis_put(struct report *report, const struct axes *axes) {
	char text[48];
	double x = x_of(axes, axes->count);
	axis_put(report, x);
	text_put(report, x, BOTTOM + 24, "middle", axes->section->label);
	report_value(axes->section, report_shown(axes->section, exp(axes->low)), text, sizeof text);
	text_put(report, x + ROOM, TOP - 8, "end", text);
	report_value(axes->section, report_shown(axes->section, exp(axes->high)), text, sizeof text);
	text_put(report, x + ROOM, BOTTOM + 10, "end", text);
}

static void lines_put(struct report *report, const struct axes *axes, size_t winner) {
	size_t count = 0;
	for (size_t row = 0; row < study_rows(axes->study); row++)
		count += is_drawn(axes, row);
	size_t step = count / LINES_MAX + 1, seen = 0;
	for (size_t row = 0; row < study_rows(axes->study); row++)
		if (is_drawn(axes, row) && row != winner && seen++ % step == 0)
			line_put(report, axes, row, false);
	if (winner != SIZE_MAX && is_drawn(axes, winner))
		line_put(report, axes, winner, true);
}

void report_parallel(struct report *report, const struct report_section *section) {
	struct axes axes = {.study = section->view.study, .section = section};
	if (!axes.study)
		return;
	axes_choose(&axes);
	if (axes.count < 2 || !(axes.high >= axes.low))
		return;
	size_t winner = slice_winner(section);
	html_begin(report->html, "div", "class", "lines", NULL);
	html_element(report->html, "p", "note", "Every configuration: point at a line to read it");
	html_begin(report->html, "svg", "class", "parallel", "viewBox",
	           arena_printf(report->arena, "0 0 %d %d", WIDTH, HEIGHT), "role", "img", NULL);
	html_element(
		report->html, "desc", NULL,
		"Parallel coordinates: a line for each configuration over the %zu parameters that matter most, and its "
		"%s, the best at the top.%s",
		axes.count, section->label, winner == SIZE_MAX ? "" : " The thick line is the winner.");
	html_begin(report->html, "g", NULL);
	lines_put(report, &axes, winner);
	html_end(report->html);
	for (size_t axis = 0; axis < axes.count; axis++)
		param_axis_put(report, &axes, axis);
	value_axis_put(report, &axes);
	html_end(report->html);
	html_end(report->html);
}
