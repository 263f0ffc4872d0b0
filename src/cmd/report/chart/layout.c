/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/cmd/report/chart/impl.h"

enum { LINE = 18, TICK_LINE = 22, PLOT_HEIGHT = 220, EDGE = 8, NAME_MOST = 110, SAMPLE = 34 };

double layout_begin(const struct chart *chart) {
	char *lines[3], *title = text_tame(chart->title);
	size_t count = text_wrap(title, (CHART_WIDTH - 2 * EDGE) / 1.08, lines, 3);
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	free(title);
	return EDGE + LINE * (double)count + 8;
}

static bool is_bar(const struct chart_series *series) {
	return series->style == CHART_BARS;
}

static bool has_bars(const struct chart *chart) {
	for (size_t i = 0; i < chart->series_count; i++)
		if (is_bar(&chart->series[i]))
			return true;
	return false;
}

static struct extent extent_x(const struct chart *chart) {
	struct extent seen = {.low = 1};
	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t j = 0; j < chart->series[i].count; j++)
			if (!isnan(axis_value(chart->series[i].points[j].y, chart->y_log)))
				extent_add(&seen, chart->series[i].points[j].x, chart->x_log);
	return seen;
}

static struct extent extent_y(const struct chart *chart) {
	struct extent seen = {.low = 1};
	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t j = 0; j < chart->series[i].count; j++) {
			const struct chart_point *p = &chart->series[i].points[j];
			if (isnan(axis_value(p->y, chart->y_log)) || isnan(axis_value(p->x, chart->x_log)))
				continue;
			extent_add(&seen, p->y, chart->y_log);
			extent_add(&seen, p->low, chart->y_log);
			extent_add(&seen, p->high, chart->y_log);
		}
	return seen;
}

static double widest_name(const char *const *names, size_t count) {
	double widest = 0;
	for (size_t i = 0; i < count; i++) {
		char *tame = text_tame(names[i]);
		widest = fmax(widest, text_width(tame));
		free(tame);
	}
	return widest;
}

static double widest_tick(const struct axis *axis) {
	double widest = 0;
	for (size_t i = 0; i < axis->tick_count; i++)
		widest = fmax(widest, text_width(axis->ticks[i].label));
	return widest;
}

/* Side by side where there is room, else slanted, else upright, else not all of them. */
void layout_names(struct layout *layout, const char *const *names, size_t count, double length) {
	double widest = fmin(widest_name(names, count), NAME_MOST), each = length / (double)(count ? count : 1);
	layout->name_stride = (size_t)fmax(1, ceil(CHART_FONT * 1.1 / each));
	each *= (double)layout->name_stride;
	layout->name_angle = widest + 6 <= each ? 0 : each >= CHART_FONT * 1.6 ? 45 : 90;
	layout->tick_height = layout->name_angle == 0    ? TICK_LINE
	                      : layout->name_angle == 45 ? widest * 0.71 + 14
	                                                 : widest + 8;
}

static void layout_legend(struct layout *layout, const struct chart *chart) {
	double widest = 0, room = CHART_WIDTH - 2 * EDGE;
	size_t named = 0;
	for (size_t i = 0; i < chart->series_count; i++) {
		if (!chart->series[i].name)
			continue;
		char *tame = text_tame(chart->series[i].name);
		widest = fmax(widest, text_width(tame));
		free(tame);
		named++;
	}
	layout->legend_count = named;
	layout->legend_columns = (size_t)fmin(fmax(1, floor(room / (SAMPLE + widest + 24))), (double)(named ? named : 1));
	layout->column_width = room / (double)layout->legend_columns;
}

void layout_end(struct layout *layout, const struct chart *chart, size_t legend_rows) {
	double y = layout->bottom + layout->tick_height + 6;
	if (chart->x_label && *chart->x_label)
		y += LINE;
	layout->legend_y = y + 10;
	layout->height = ceil(y + (double)legend_rows * LINE + EDGE);
}

static double left_margin(const struct chart *chart, double widest) {
	return EDGE + (chart->y_label && *chart->y_label ? LINE : 0) + widest + 11;
}

/* Again where half of a long label would stick out on the right. */
static void fit_across(struct layout *layout, const struct chart *chart) {
	for (int round = 0; round < 2; round++) {
		axis_fit(&layout->x, extent_x(chart), chart->x_log, false, true, layout->right - layout->left);
		layout->right = fmin(layout->right, CHART_WIDTH - 2 - widest_tick(&layout->x) / 2);
	}
}

void layout_series(struct layout *layout, const struct chart *chart) {
	*layout = (struct layout){.top = layout_begin(chart), .tick_height = TICK_LINE};
	layout->bottom = layout->top + PLOT_HEIGHT;
	struct extent y = extent_y(chart);
	bool zero = has_bars(chart) || (y.low <= y.high && y.low > 0 && y.low < y.high / 2);
	axis_fit(&layout->y, y, chart->y_log, zero, false, PLOT_HEIGHT);
	layout->left = left_margin(chart, widest_tick(&layout->y));
	layout->right = CHART_WIDTH - 16;
	if (chart->x_names) {
		axis_names(&layout->x, chart->x_name_count);
		layout_names(layout, chart->x_names, chart->x_name_count, layout->right - layout->left);
	} else {
		fit_across(layout, chart);
		if (has_bars(chart))
			axis_pad(&layout->x, 0.07);
	}
	layout_legend(layout, chart);
	size_t shown = layout->legend_count > CHART_NAMES_SHOWN ? CHART_NAMES_SHOWN + 1 : layout->legend_count;
	layout_end(layout, chart, (shown + layout->legend_columns - 1) / layout->legend_columns);
}

void layout_heat(struct layout *layout, const struct chart *chart) {
	const struct chart_heat *heat = chart->heat;
	*layout = (struct layout){.top = layout_begin(chart)};
	double widest = fmin(widest_name(heat->y_names, heat->height), NAME_MOST);
	layout->bottom = layout->top + fmin(fmax(26 * (double)heat->height, 160), 300);
	layout->left = left_margin(chart, widest);
	layout->right = CHART_WIDTH - 16;
	axis_names(&layout->x, heat->width);
	axis_names(&layout->y, heat->height);
	layout_names(layout, heat->x_names, heat->width, layout->right - layout->left);
	layout_end(layout, chart, 3);
}
