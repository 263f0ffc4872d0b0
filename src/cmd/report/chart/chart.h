/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as inline SVG, and as PNG if gnuplot is installed. All texts are hostile: they are escaped, and none of them
 * can become markup or a command of gnuplot.
 *
 * A canvas is 440 units wide with letters of 13, which are 10 pixels on a phone's 360 and 17 at 36 rem, the widest that
 * charts get; give them columns of some 22 to 36 rem. Heights differ: long titles are wrapped, and legends stand below
 * in as many rows as they need. A value that can't be drawn (NAN, infinity, 0 on a logarithmic axis) interrupts a line;
 * a chart without any value says so. Linear y axes begin at 0 with bars, and if the smallest value is below half of the
 * largest. A few whole numbers on an x axis (threads, sizes) have a tick each. Series differ by colour (Okabe and Ito),
 * shape and dashes; heat maps are viridis, and show their values in the cells if these are large enough. */
#ifndef SRC_CMD_REPORT_CHART_CHART_H
#define SRC_CMD_REPORT_CHART_CHART_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct chart_point {
	double x, y;
	double low, high; /* interval; NAN: none. On a logarithmic axis one from 0 reaches to the border. */
};

enum chart_style {
	CHART_LINE /* with its points */,
	CHART_POINTS,
	CHART_STEPS,
	CHART_BARS,
	CHART_STACK /* a part of a bar: on top of those of earlier series at the same x; not for logarithmic axes */,
	CHART_BOUND /* a line without points, of something that was not measured */
};

struct chart_series {
	const char *name; /* in the legend, which shows the first hundred; NULL: none */
	enum chart_style style;
	const struct chart_point *points; /* a few hundred at most: aggregate before drawing */
	size_t count;
};

struct chart_heat { /* rows from below; up to about 64 x 64 can be read */
	const char *const *x_names, *const *y_names;
	size_t width, height;
	const double *values; /* height x width; NAN: not measured */
	const char *value_label;
	bool value_log; /* colours by the logarithm: for times that differ by factors */
};

struct chart_mark {
	double x, y; /* of a heat map: column and row */
};

struct chart {
	const char *id;                        /* [a-z0-9-], unique on the page; also the PNG's file name */
	const char *title, *x_label, *y_label; /* labels with units: "time (ms)" */
	const char *description;               /* text alternative, a sentence or two */
	bool x_log, y_log;
	const char *const *x_names; /* of the places 0, 1, ..; NULL: x is a number */
	size_t x_name_count;
	const struct chart_series *series;
	size_t series_count;
	const struct chart_heat *heat;   /* instead of series; NULL: none */
	const struct chart_mark *winner; /* is marked; NULL: none */
};

/* An <svg role="img"> with <title> and <desc>, width 100 %, in the colours of chart_css, ids prefixed by chart.id; the
 * caller frees. NULL with ERR_USAGE if the id is not valid, and for no other reason. */
char *chart_svg(const struct chart *chart, struct err *err);
/* Writes DIR/ID.png each and makes the folder. ERR_UNAVAILABLE without gnuplot, with the hint to install it; ERR_FAILED
 * if it fails. */
int chart_png(const struct chart *charts, size_t count, const char *dir, struct err *err);
/* Rules for the page's <style>, for light, dark and print; the caller frees. */
char *chart_css(void);

#endif
