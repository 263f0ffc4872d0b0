/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws intervals as lines from the lower to the upper end. */
#include <config.h>

#include "src/cmd/report/chart/plot.h"

enum { CAPS_MOST = 60 /* more caps would form a mesh */ };
static const double cap = 3;

static void interval_draw(struct plot *plot, double x, double low, double high, bool caps) {
	drawing_move(plot->drawing, x, low);
	drawing_to(plot->drawing, x, high);
	for (int end = 0; caps && end < 2; end++) {
		double y = end ? high : low;
		drawing_move(plot->drawing, x - cap, y);
		drawing_to(plot->drawing, x + cap, y);
	}
}

/* Intervals of bars are drawn in ink, because the colour of the bar would hide them. */
static void series_intervals(struct plot *plot, const struct chart_series *series, struct paint paint) {
	struct spot spot;
	double low, high;
	for (size_t i = 0; i < series->count; i++)
		if (plot_spot(plot, series, i, &spot) && plot_interval(plot, series, i, &low, &high)) {
			drawing_line(plot->drawing, (struct stroke){paint, 1, NULL});
			interval_draw(plot, spot.x, low, high, series->count <= CAPS_MOST);
		}
}

void intervals_draw(struct plot *plot, bool bars) {
	for (size_t i = 0; i < plot->chart->series_count; i++)
		if (series_is_bar(&plot->chart->series[i]) == bars)
			series_intervals(plot, &plot->chart->series[i], paint_role(bars ? COLOUR_INK : series_role(i)));
}
