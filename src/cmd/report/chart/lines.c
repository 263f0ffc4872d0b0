/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws lines, steps and points. */
#include <config.h>

#include "src/cmd/report/chart/plot.h"

/* A point that cannot be shown interrupts the line. */
static void line_draw(struct plot *plot, const struct chart_series *series) {
	struct spot spot, last = {0};
	bool down = false;
	for (size_t i = 0; i < series->count; i++) {
		if (!plot_spot(plot, series, i, &spot)) {
			down = false;
			continue;
		}
		if (!down)
			drawing_move(plot->drawing, spot.x, spot.y);
		else if (series->style == CHART_STEPS)
			drawing_to(plot->drawing, spot.x, last.y);
		if (down)
			drawing_to(plot->drawing, spot.x, spot.y);
		down = true;
		last = spot;
	}
}

static size_t shown_count(const struct plot *plot, const struct chart_series *series) {
	struct spot spot;
	size_t count = 0;
	for (size_t i = 0; i < series->count; i++)
		count += plot_spot(plot, series, i, &spot);
	return count;
}

static void points_draw(struct plot *plot, const struct chart_series *series, size_t index) {
	struct spot spot;
	for (size_t i = 0; i < series->count; i++)
		if (plot_spot(plot, series, i, &spot))
			drawing_shape(plot->drawing, paint_role(series_role(index)), series_shape(index), spot.x, spot.y);
}

/* A line of one point would be invisible, so the point itself is shown. */
static void series_draw(struct plot *plot, const struct chart_series *series, size_t index) {
	size_t count = shown_count(plot, series);
	double width = series->style == CHART_BOUND ? 1.5 : 2;
	if (count > 1 && series->style != CHART_POINTS) {
		drawing_line(plot->drawing, (struct stroke){paint_role(series_role(index)), width, series_dash(index)});
		line_draw(plot, series);
	}
	if (count == 1 || series->style == CHART_LINE || series->style == CHART_POINTS)
		points_draw(plot, series, index);
}

void lines_draw(struct plot *plot) {
	for (size_t i = 0; i < plot->chart->series_count; i++)
		if (!series_is_bar(&plot->chart->series[i]))
			series_draw(plot, &plot->chart->series[i], i);
}
