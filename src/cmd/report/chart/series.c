/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/impl.h"

struct pen {
	struct script *script;
	const struct chart *chart;
	const struct layout *layout;
	const struct chart_series *series;
	size_t index;
	double shift, width; /* of bars, in shares of the axis */
};

enum { CAPS_MOST = 60 }; /* error bars with caps; more of them would be a mesh */

static struct colour pen_colour(const struct pen *pen) {
	return colour_role(series_colour(pen->index), pen->script->svg);
}

static bool point_value(const struct pen *pen, size_t i, double *x, double *y) {
	*x = axis_value(pen->series->points[i].x, pen->chart->x_log);
	*y = axis_value(pen->series->points[i].y, pen->chart->y_log);
	return !isnan(*x) && !isnan(*y);
}

static double clamp(const struct axis *axis, double value) {
	return fmin(fmax(value, axis->low), axis->high);
}

/* A place on the axis as a value again. */
static double axis_at(const struct axis *axis, double place) {
	if (axis->log)
		return exp(log(axis->low) + place * (log(axis->high) - log(axis->low)));
	return axis->low + place * (axis->high / 2 - axis->low / 2) * 2;
}

/* Returns how many were written; an empty line, where something is missing, interrupts a line. */
static size_t write_points(const struct pen *pen) {
	size_t written = 0;
	for (size_t i = 0; i < pen->series->count; i++) {
		double x, y;
		if (!point_value(pen, i, &x, &y)) {
			fprintf(pen->script->blocks, "\n");
			continue;
		}
		fprintf(pen->script->blocks, "%.15g %.15g\n", clamp(&pen->layout->x, x), clamp(&pen->layout->y, y));
		written++;
	}
	return written;
}

static double bar_middle(const struct pen *pen, double x) {
	return axis_place(&pen->layout->x, x) + pen->shift;
}

/* The ends of an error bar; one that can't be drawn (below 0 on a logarithmic axis) reaches to the border. */
static bool error_ends(const struct pen *pen, size_t i, double *low, double *high) {
	const struct chart_point *p = &pen->series->points[i];
	if (isnan(p->low) || isnan(p->high) || p->low >= p->high)
		return false;
	const struct axis *axis = &pen->layout->y;
	double a = axis_value(p->low, axis->log), b = axis_value(p->high, axis->log);
	*low = isnan(a) ? axis->low : clamp(axis, a);
	*high = isnan(b) ? axis->high : clamp(axis, b);
	return *low < *high;
}

/* Vectors with flat heads: errorbars would paint white under their points. */
static void write_errors(const struct pen *pen) {
	size_t block = script_block(pen->script), written = 0;
	for (size_t i = 0; i < pen->series->count; i++) {
		double x, y, low, high;
		if (!point_value(pen, i, &x, &y) || !error_ends(pen, i, &low, &high))
			continue;
		if (pen->series->style == CHART_BARS)
			x = axis_at(&pen->layout->x, bar_middle(pen, x));
		fprintf(pen->script->blocks, "%.15g %.15g %.15g\n", clamp(&pen->layout->x, x), low, high - low);
		written++;
	}
	script_block_end(pen->script);
	bool bars = pen->series->style == CHART_BARS;
	if (written)
		script_plot(pen->script, "$d%zu using 1:2:(0):3 with vectors %s lw 1 dt solid lc rgb '%s'", block,
		            written > CAPS_MOST ? "nohead" : "heads size screen 0.007,90 fixed",
		            bars ? colour_role(COLOUR_INK, pen->script->svg).text : pen_colour(pen).text);
}

static void write_bars(const struct pen *pen) {
	size_t block = script_block(pen->script), written = 0;
	const struct axis *across = &pen->layout->x, *up = &pen->layout->y;
	for (size_t i = 0; i < pen->series->count; i++) {
		double x, y;
		if (!point_value(pen, i, &x, &y))
			continue;
		double middle = bar_middle(pen, x), base = up->log ? up->low : clamp(up, 0);
		double left = clamp(across, axis_at(across, middle - pen->width / 2));
		double right = clamp(across, axis_at(across, middle + pen->width / 2));
		fprintf(pen->script->blocks, "%.15g %.15g %.15g %.15g\n", left, right, fmin(base, y), fmax(base, y));
		written++;
	}
	script_block_end(pen->script);
	if (written)
		script_plot(pen->script, "$d%zu using 1:3:1:2:3:4 with boxxyerror fs solid noborder fc rgb '%s'", block,
		            pen_colour(pen).text);
}

static void write_lines(const struct pen *pen) {
	enum chart_style style = pen->series->style;
	size_t block = script_block(pen->script), written = write_points(pen);
	script_block_end(pen->script);
	if (written == 0)
		return;
	struct colour colour = pen_colour(pen);
	if (written > 1 && style != CHART_POINTS)
		script_plot(pen->script, "$d%zu with %s lw %s dt %s lc rgb '%s'", block,
		            style == CHART_STEPS ? "steps" : "lines", style == CHART_BOUND ? "1.5" : "2",
		            series_dash(pen->index), colour.text);
	if (written == 1 || style == CHART_LINE || style == CHART_POINTS)
		script_plot(pen->script, "$d%zu with points pt %d ps 0.8 lw 1.5 lc rgb '%s'", block, series_shape(pen->index),
		            colour.text);
}

static size_t bar_series(const struct chart *chart) {
	size_t count = 0;
	for (size_t i = 0; i < chart->series_count; i++)
		count += chart->series[i].style == CHART_BARS;
	return count;
}

static int by_value(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The smallest distance of two places, as a share of the axis. */
static double bar_gap(const struct chart *chart, const struct layout *layout) {
	if (chart->x_names)
		return 1 / (layout->x.high - layout->x.low);
	size_t count = 0, room = 1;
	for (size_t i = 0; i < chart->series_count; i++)
		room += chart->series[i].count;
	double *places = mem_alloc(room, sizeof(*places)), gap = 0.1;
	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t j = 0; j < chart->series[i].count; j++) {
			double x = axis_value(chart->series[i].points[j].x, chart->x_log);
			if (!isnan(x))
				places[count++] = axis_place(&layout->x, x);
		}
	qsort(places, count, sizeof(*places), by_value);
	for (size_t i = 1; i < count; i++)
		if (places[i] - places[i - 1] > 1e-4)
			gap = fmin(gap, places[i] - places[i - 1]);
	free(places);
	return gap;
}

/* The first thing plotted, always there: gnuplot has no charts of nothing. */
static void write_base(const struct pen *pen) {
	const struct axis *x = &pen->layout->x, *y = &pen->layout->y;
	double base = y->log ? y->low : clamp(y, 0);
	size_t block = script_block(pen->script);
	fprintf(pen->script->blocks, "%.15g %.15g\n%.15g %.15g\n", x->low, base, x->high, base);
	script_block_end(pen->script);
	script_plot(pen->script, "$d%zu with lines lw 1 dt solid lc rgb '%s'", block,
	            colour_role(COLOUR_AXIS, pen->script->svg).text);
}

static void write_each(struct pen *pen, void (*write)(const struct pen *pen), bool bars) {
	for (size_t i = 0; i < pen->chart->series_count; i++) {
		pen->series = &pen->chart->series[i];
		pen->index = i;
		if ((pen->series->style == CHART_BARS) == bars)
			write(pen);
	}
}

static void write_all_bars(struct pen *pen) {
	size_t count = bar_series(pen->chart), rank = 0;
	if (count == 0)
		return;
	double gap = bar_gap(pen->chart, pen->layout) * 0.8;
	pen->width = gap / (double)count * (count > 1 ? 0.92 : 0.9);
	for (size_t i = 0; i < pen->chart->series_count; i++) {
		pen->series = &pen->chart->series[i];
		pen->index = i;
		if (pen->series->style != CHART_BARS)
			continue;
		pen->shift = gap * (((double)rank++ + 0.5) / (double)count - 0.5);
		write_bars(pen);
		write_errors(pen);
	}
}

void series_write(struct script *script, const struct chart *chart, const struct layout *layout) {
	struct pen pen = {.script = script, .chart = chart, .layout = layout};
	write_all_bars(&pen);
	write_base(&pen);
	write_each(&pen, write_errors, false);
	write_each(&pen, write_lines, false);
	if (script->plot_count == 1)
		script_label(script, "nothing measured",
		             (struct label){.x = (layout->left + layout->right) / 2,
		                            .y = (layout->top + layout->bottom) / 2,
		                            .width = CHART_WIDTH,
		                            .anchor = 'c'});
}
