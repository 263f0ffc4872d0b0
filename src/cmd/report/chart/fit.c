/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits the scales to all series of a chart. */
#include <config.h>

#include <math.h>

#include "src/cmd/report/chart/plot.h"

enum { PLOT_HEIGHT = 220 };

/* Returns the value at which the point is drawn, NAN if it cannot be shown. */
static double top_of(const struct chart *chart, const struct chart_series *series, const struct chart_point *point) {
	if (isnan(scale_value(point->x, chart->x_log)))
		return NAN;
	return series_value(chart, series, point);
}

static void point_add(const struct chart *chart, const struct chart_series *series, const struct chart_point *point,
                      struct extent *x, struct extent *y) {
	double top = top_of(chart, series, point), base = series_base(chart, series, point->x);
	if (isnan(top))
		return;
	extent_add(y, top, chart->y_log);
	extent_stretch(y, base + point->low, chart->y_log);
	extent_stretch(y, base + point->high, chart->y_log);
	if (series->style == CHART_BOUND || series->style == CHART_STEPS)
		extent_stretch(x, point->x, chart->x_log);
	else
		extent_add(x, point->x, chart->x_log);
}

static void extents(const struct chart *chart, struct extent *x, struct extent *y) {
	*x = *y = EXTENT_NONE;
	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t j = 0; j < chart->series[i].count; j++)
			point_add(chart, &chart->series[i], &chart->series[i].points[j], x, y);
	if (chart->winner) {
		extent_stretch(x, chart->winner->x, chart->x_log);
		extent_stretch(y, chart->winner->y, chart->y_log);
	}
}

/* Repeats the fit, because half of a label at an end needs room beside the plot, and another width means other ticks.
 */
static void fit_across(struct plot *plot, struct extent seen, double air) {
	scale_fit_positions(&plot->x, seen, plot->chart->x_log, air);
	for (int round = 0; round < 2; round++) {
		double half = scale_widest_label(&plot->x) / 2;
		plot->x.from = fmax(plot->x.from, 2 + half);
		plot->x.to = fmin(plot->x.to, CANVAS_WIDTH - 2 - half);
		scale_fit_positions(&plot->x, seen, plot->chart->x_log, air);
	}
}

/* The first and the last bar need room for half of the distance between bars. */
static void fit_positions(struct plot *plot, struct extent seen) {
	const double air = 0.04;
	fit_across(plot, seen, air);
	if (bars_groups(plot->chart) > 0)
		fit_across(plot, seen, air + bars_gap(plot) / (plot->x.to - plot->x.from) * (0.5 + air));
}

/* Bars begin at 0 because their length would mislead otherwise. Points do so unless they are close to each other. */
void series_fit(struct plot *plot) {
	const struct chart *chart = plot->chart;
	struct extent x, y;
	extents(chart, &x, &y);
	bool zero = bars_groups(chart) > 0 || (y.low <= y.high && y.low > 0 && y.low < y.high / 2);
	plot->y.from = PLOT_HEIGHT; /* the final height, on which the ticks depend */
	scale_fit_values(&plot->y, y, chart->y_log, zero);
	plot->x_names = (struct names){chart->x_names, chart->x_name_count};
	frame_begin(plot, PLOT_HEIGHT);
	if (chart->x_names)
		scale_fit_names(&plot->x, chart->x_name_count);
	else
		fit_positions(plot, x);
	plot->bar_gap = bars_gap(plot);
}
