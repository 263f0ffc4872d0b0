/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws charts as inline SVG, and as PNG if rsvg-convert is installed. All texts may be hostile: they are escaped, and
 * none of them can become markup.
 *
 * The canvas is 440 units wide and its letters are 13 high. They appear as 10 pixels on a phone that is 360 wide, and
 * as 17 at 36 rem, the largest width of a chart; columns of 22 to 36 rem suit them. Heights differ, because long titles
 * are wrapped and legends take as many rows below the plot as they need. A value that can't be drawn (NAN, infinity, 0
 * on a logarithmic axis) interrupts a line; a chart without any value says so. A linear y axis begins at 0 if there are
 * bars, or if the smallest value is below half of the largest. A few whole numbers on an x axis (threads, sizes) get a
 * tick each. Series differ by colour (Okabe and Ito), shape and dashes; heat maps use viridis, and show their values if
 * the cells are large enough. */
#ifndef SRC_CMD_REPORT_CHART_CHART_H
#define SRC_CMD_REPORT_CHART_CHART_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct chart_point {
	double x, y;
	double low, high; /* interval; NAN: none. An end that a logarithmic axis cannot show reaches to its border. */
};

enum chart_style {
	CHART_LINE /* with its points */,
	CHART_POINTS,
	CHART_STEPS,
	CHART_BARS,
	CHART_STACK /* a part of a bar, on top of those of earlier series at the same x; needs a linear y axis */,
	CHART_BOUND /* a line without points, for a value that was not measured */
};

struct chart_series {
	const char *name; /* for the legend, which shows the first hundred names; NULL: no entry */
	enum chart_style style;
	struct chart_point *points; /* a few hundred at most; aggregate more of them first */
	size_t count;
};

struct chart_heat { /* the first row is the lowest; up to about 64 x 64 cells are legible */
	const char *const *x_names, *const *y_names;
	size_t width, height;
	const double *values; /* height x width; NAN: not measured */
	const char *value_label;
	bool value_log; /* colours follow the logarithm, which suits times that differ by factors */
};

struct chart_mark {
	double x, y; /* column and row in a heat map */
};

struct chart {
	const char *id;                        /* [a-z0-9-], unique on the page; also the PNG's file name */
	const char *title, *x_label, *y_label; /* labels with units: "time (ms)" */
	const char *description;               /* text alternative, a sentence or two */
	bool x_log, y_log;
	double x_zero;              /* where a logarithmic x axis shows 0, apart from the other places; 0: nowhere */
	const char *const *x_names; /* names of the places 0, 1, ..; NULL: x is a number */
	size_t x_name_count;
	struct chart_series *series;
	size_t series_count;
	const struct chart_heat *heat;   /* instead of series; NULL: none */
	const struct chart_mark *winner; /* marked in the chart; NULL: none */
};

/* Returns an <svg role="img"> with <title> and <desc>, as wide as its container, in the colours of chart_css. Its ids
 * begin with chart.id. The caller frees it. Only an invalid id fails: NULL with ERR_USAGE. */
char *chart_svg(const struct chart *chart, struct err *err);
/* Creates the folder and writes DIR/ID.png for each chart. Fails with ERR_UNAVAILABLE and a hint if rsvg-convert is not
 * installed, and with ERR_FAILED if it fails. */
int chart_png(const struct chart *charts, size_t count, const char *dir, struct err *err);
/* Creates the folder and writes DIR/ID.svg, which has its colours inside, and DIR/ID.csv with the values of each chart.
 */
int chart_files(const struct chart *charts, size_t count, const char *dir, struct err *err);
/* Returns the rules for the page's <style>, for light and dark themes and for paper. The caller frees them. */
char *chart_css(void);
#endif
