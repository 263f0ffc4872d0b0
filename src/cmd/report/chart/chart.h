/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as inline SVG or PNG, drawn by gnuplot. All texts are hostile: none of them can become a command of gnuplot or
 * markup. They go to gnuplot as lines of a data block, never within a command, and what it draws is read and written
 * again from a short list of elements and attributes: svg, title, desc, path, text; no style, link, script or image,
 * and no ids but ID-title and ID-desc.
 *
 * A canvas is 440 units wide with letters of 13, which are 10 pixels on a phone's 360 and 17 at the most of 36 rem;
 * give charts columns of some 22 to 36 rem. Heights differ: long titles are wrapped, legends stand below in as many
 * rows as they need. What can't be drawn (NAN, infinity, 0 on a logarithmic axis) interrupts a line; a chart of nothing
 * says so. Linear y axes begin at 0 with bars, and where the smallest value is below half of the largest. Logarithmic x
 * axes of small whole numbers are marked by powers of two. Series differ by colour (Okabe and Ito), shape and dashes;
 * heat maps are viridis, and bear their values where cells are large enough. */
#ifndef SRC_CMD_REPORT_CHART_CHART_H
#define SRC_CMD_REPORT_CHART_CHART_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct chart_point {
	double x, y;
	double low, high; /* error bar; NAN: none. On a logarithmic axis one from 0 reaches to the border. */
};

enum chart_style {
	CHART_LINE /* with its points */,
	CHART_POINTS,
	CHART_STEPS,
	CHART_BARS,
	CHART_BOUND /* no points */
};

struct chart_series {
	const char *name; /* in the legend, of which the first hundred are shown; NULL: none */
	enum chart_style style;
	const struct chart_point *points; /* at most some hundred: aggregate before drawing */
	size_t count;
};

struct chart_heat { /* rows from below; best below some 64 x 64 */
	const char *const *x_names, *const *y_names;
	size_t width, height;
	const double *values; /* height x width; NAN: not measured */
	const char *value_label;
	bool value_log; /* colours by the logarithm: for times that differ by factors */
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
	const struct chart_heat *heat; /* in the place of series; NULL: none */
};

/* svg[i]: an <svg role="img"> element of its own with <title> and <desc>, width 100 %, in the page's colours by CSS
 * classes and variables (chart_css), ids prefixed by chart.id; the caller frees. As few processes as can be.
 * ERR_UNAVAILABLE without gnuplot, with the hint to install it; ERR_FAILED where it fails. */
int chart_draw_svg(const struct chart *charts, size_t count, char **svg, struct err *err);
/* DIR/ID.png each; the folder is made. */
int chart_draw_png(const struct chart *charts, size_t count, const char *dir, struct err *err);
/* What the page's <style> needs for light, dark and print. */
extern const char chart_css[];

#endif
