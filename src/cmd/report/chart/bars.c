/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws bars. Those of several series stand side by side, and the parts of a stack on top of each other. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/plot.h"

static const double group_share = 0.8, bar_share = 0.92, bar_widest = 88;

/* Returns the group of a series, counted from the left. All parts of a stack share the last group. */
static size_t group_of(const struct chart *chart, const struct chart_series *series) {
	size_t group = 0;
	const struct chart_series *end = series->style == CHART_STACK ? chart->series + chart->series_count : series;
	for (const struct chart_series *other = chart->series; other < end; other++)
		group += other->style == CHART_BARS;
	return group;
}

size_t bars_groups(const struct chart *chart) {
	size_t groups = 0, parts = 0;
	for (size_t i = 0; i < chart->series_count; i++) {
		groups += chart->series[i].style == CHART_BARS;
		parts += chart->series[i].style == CHART_STACK;
	}
	return groups + (parts > 0);
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static size_t bar_places(const struct plot *plot, double *places) {
	size_t count = 0;
	for (size_t i = 0; i < plot->chart->series_count; i++)
		for (size_t j = 0; series_is_bar(&plot->chart->series[i]) && j < plot->chart->series[i].count; j++) {
			double x = scale_value(plot->chart->series[i].points[j].x, plot->x.log);
			if (!isnan(x))
				places[count++] = scale_at(&plot->x, x);
		}
	qsort(places, count, sizeof(*places), by_value);
	return count;
}

double bars_gap(const struct plot *plot) {
	double length = plot->x.to - plot->x.from, gap = length / 4;
	size_t room = 1;
	if (plot->x_names.texts)
		return length / (double)(plot->x_names.count ? plot->x_names.count : 1);
	for (size_t i = 0; i < plot->chart->series_count; i++)
		room += plot->chart->series[i].count;
	double *places = mem_alloc(room, sizeof(*places));
	size_t count = bar_places(plot, places);
	for (size_t i = 1; i < count; i++)
		if (places[i] - places[i - 1] > length * 1e-4)
			gap = fmin(gap, places[i] - places[i - 1]);
	free(places);
	return gap;
}

/* Returns the distance between the middles of two neighbouring bars of a group. */
static double bar_step(const struct plot *plot) {
	return fmin(plot->bar_gap * group_share / (double)bars_groups(plot->chart), bar_widest);
}

double bars_middle(const struct plot *plot, const struct chart_series *series, double x) {
	double from_middle = (double)group_of(plot->chart, series) - ((double)bars_groups(plot->chart) - 1) / 2;
	return scale_at(&plot->x, x) + from_middle * bar_step(plot);
}

static double bar_base(const struct plot *plot, const struct chart_series *series, double x) {
	return plot->y.log ? plot->y.from : scale_at(&plot->y, series_base(plot->chart, series, x));
}

static double inside(const struct plot *plot, double x) {
	return fmin(fmax(x, plot->x.from), plot->x.to);
}

void bars_draw(struct plot *plot) {
	const struct chart *chart = plot->chart;
	double half = bar_step(plot) * bar_share / 2;
	for (size_t i = 0; i < chart->series_count; i++) {
		const struct chart_series *series = &chart->series[i];
		struct spot top;
		for (size_t j = 0; series_is_bar(series) && j < series->count; j++)
			if (plot_spot(plot, series, j, &top))
				drawing_rect(plot->drawing, paint_role(series_role(i)), spot_at(inside(plot, top.x - half), top.y),
				             spot_at(inside(plot, top.x + half), bar_base(plot, series, series->points[j].x)));
	}
}
