/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a chart, one file each. A part adds its items to the drawing; only frame.c decides where the plot is. */
#ifndef SRC_CMD_REPORT_CHART_PLOT_H
#define SRC_CMD_REPORT_CHART_PLOT_H
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/drawing.h"
#include "src/cmd/report/chart/scale.h"

enum { EDGE = 8, LINE_HEIGHT = 18, NAMES_SHOWN = 100 /* in a legend */ };

struct names {
	const char *const *texts; /* NULL: the axis has ticks */
	size_t count;
};

struct plot {
	struct drawing *drawing;
	const struct chart *chart;
	struct scale x, y; /* their ends are the edges of the plot */
	struct names x_names, y_names;
	double bar_gap; /* the distance between bars at neighbouring places */
};

/* spots.c: finds the place of a point, which is the top of a bar; false if it cannot be shown. */
bool plot_spot(const struct plot *plot, const struct chart_series *series, size_t i, struct spot *spot);
/* Finds the ends of the interval of a point; false if it has none. An end that the scale cannot show is at the border.
 */
bool plot_interval(const struct plot *plot, const struct chart_series *series, size_t i, double *low, double *high);
bool series_is_bar(const struct chart_series *series);
/* Returns the value at which a bar begins: the sum of the parts below it in a stack, otherwise 0. */
double series_base(const struct chart *chart, const struct chart_series *series, double x);
/* Returns the value at which a point or bar ends, NAN if it cannot be shown. */
double series_value(const struct chart *chart, const struct chart_series *series, const struct chart_point *point);

/* frame.c: draws the title and places the plot below it. The ticks or names of y must be known, because the left edge
 * makes room for them. */
void frame_begin(struct plot *plot, double height);
/* Draws labels, ticks and grid, and returns the first y below them. */
double frame_draw(struct plot *plot);
/* axis.c */
double axis_margin(const struct plot *plot); /* the width of the ticks or names of y */
void axis_draw_y(struct plot *plot);
double axis_draw_x(struct plot *plot); /* returns the first y below ticks or names */

/* fit.c: fits both scales and begins the frame of a chart with series. */
void series_fit(struct plot *plot);
/* bars.c */
size_t bars_groups(const struct chart *chart); /* the number of bars side by side at each place */
double bars_gap(const struct plot *plot);
double bars_middle(const struct plot *plot, const struct chart_series *series, double x);
void bars_draw(struct plot *plot);
void intervals_draw(struct plot *plot, bool bars); /* intervals.c: draws those of bars, or those of all other series */
void lines_draw(struct plot *plot);                /* lines.c */
void winner_draw(struct plot *plot);               /* winner.c */
void winner_sample(struct plot *plot, double x, double y);
double legend_draw(struct plot *plot, double y); /* legend.c: returns the first y below it */
double heat_draw(struct plot *plot);             /* heat.c: draws the whole chart and returns the first y below it */

#endif
