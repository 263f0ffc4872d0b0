/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>

#include "src/cmd/report/chart/plot.h"

bool series_is_bar(const struct chart_series *series) {
	return series->style == CHART_BARS || series->style == CHART_STACK;
}

/* A negative part of a whole makes no sense and is left out. */
static double part_of(const struct chart_point *point) {
	return point->y >= 0 ? scale_value(point->y, false) : NAN;
}

double series_base(const struct chart *chart, const struct chart_series *series, double x) {
	double sum = 0;
	if (series->style != CHART_STACK)
		return 0;
	for (const struct chart_series *below = chart->series; below < series; below++)
		for (size_t i = 0; below->style == CHART_STACK && i < below->count; i++)
			if (below->points[i].x == x && !isnan(part_of(&below->points[i])))
				sum += part_of(&below->points[i]);
	return sum;
}

double series_value(const struct chart *chart, const struct chart_series *series, const struct chart_point *point) {
	if (series->style == CHART_STACK)
		return series_base(chart, series, point->x) + part_of(point);
	return scale_value(point->y, chart->y_log);
}

bool plot_spot(const struct plot *plot, const struct chart_series *series, size_t i, struct spot *spot) {
	const struct chart_point *point = &series->points[i];
	double x = scale_value(point->x, plot->x.log), y = series_value(plot->chart, series, point);
	if (isnan(x) || isnan(y))
		return false;
	*spot = (struct spot){.x = series_is_bar(series) ? bars_middle(plot, series, x) : scale_at(&plot->x, x),
	                      .y = scale_at(&plot->y, y)};
	return true;
}

bool plot_interval(const struct plot *plot, const struct chart_series *series, size_t i, double *low, double *high) {
	const struct chart_point *point = &series->points[i];
	if (isnan(point->low) || isnan(point->high) || point->low >= point->high)
		return false;
	double a = scale_value(point->low, plot->y.log), b = scale_value(point->high, plot->y.log);
	double base = series_base(plot->chart, series, point->x);
	*low = isnan(a) ? plot->y.from : scale_at(&plot->y, base + a);
	*high = isnan(b) ? plot->y.to : scale_at(&plot->y, base + b);
	return *low > *high; /* y grows downwards */
}
