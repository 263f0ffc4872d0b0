/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside charts: from data to axes, from axes to places on a canvas, from there to a script, and back from what gnuplot
 * drew. Canvas units are the pixels of a chart that is 440 wide; y grows downwards as in SVG. */
#ifndef SRC_CMD_REPORT_CHART_IMPL_H
#define SRC_CMD_REPORT_CHART_IMPL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "src/base/err.h"
#include "src/cmd/report/chart/chart.h"

enum { CHART_WIDTH = 440, CHART_FONT = 13, CHART_TICKS = 40, CHART_NAMES_SHOWN = 100 };

/* Colours by what they are for. An SVG gets them as classes, for which gnuplot is told the colour #0000NN. */
enum { COLOUR_INK = 1, COLOUR_AXIS, COLOUR_RULE, COLOUR_ABSENT, COLOUR_SERIES = 16, COLOUR_SERIES_COUNT = 7 };
enum { COLOUR_ROLES = COLOUR_SERIES + COLOUR_SERIES_COUNT };

struct colour {
	char text[8]; /* "#rrggbb" */
};
struct colour colour_role(int role, bool svg);
struct colour colour_map(double share); /* viridis, 0 to 1 */
bool colour_map_is_dark(double share);

struct tick {
	double at;
	char label[32];
};

struct axis {
	double low, high; /* low < high; log: 0 < low */
	bool log;
	struct tick ticks[CHART_TICKS];
	size_t tick_count;
	double step_least; /* 1: whole numbers */
};

struct extent {
	double low, high; /* low > high: nothing seen */
	bool fractions;   /* not whole numbers alone */
};
/* NAN for what can't be drawn on such an axis; what double can hardly tell from 0 or infinity is brought nearer. */
double axis_value(double value, bool log);
void extent_add(struct extent *extent, double value, bool log);
/* zero: 0 belongs to it (bars). across: the x axis, whose labels stand side by side and whose logarithm is one to base
 * 2 where that gives short numbers (threads, block sizes). length: how long it is on the canvas. */
void axis_fit(struct axis *axis, struct extent seen, bool log, bool zero, bool across, double length);
void axis_pad(struct axis *axis, double share);             /* more room at both ends; the ticks stay */
void axis_trim(struct axis *axis, double low, double high); /* exactly these ends; ticks outside go */
void axis_names(struct axis *axis, size_t count);
double axis_place(const struct axis *axis, double value); /* 0 at low, 1 at high */
void tick_label(char label[32], double value, double step);

/* Text from outside: well-formed, one line, without what XML forbids or what turns the direction of writing. */
char *text_tame(const char *text);
double text_width(const char *text); /* at CHART_FONT; on the generous side */
/* At most `width` wide, with an ellipsis where something is gone. The caller frees. */
char *text_fit(const char *text, double width);
/* At most `max` lines of that width; returns how many. The caller frees each. */
size_t text_wrap(const char *text, double width, char **lines, size_t max);
void text_markup(FILE *out, const char *text); /* escaped for elements and attributes */

struct script {
	FILE *texts, *blocks, *settings, *plots;
	char *parts[4];
	size_t sizes[4], text_count, block_count, plot_count;
	bool svg;
	double height;
};
void script_open(struct script *script, bool svg);
/* Appends it to out and frees all. */
void script_close(struct script *script, FILE *out, const char *file);
/* What stands for the text in commands: t(N). */
size_t script_text(struct script *script, const char *text);
size_t script_block(struct script *script); /* a data block of its own: $dN, to be filled through script->blocks */
void script_block_end(struct script *script);
/* One more element of the plot. */
void script_plot(struct script *script, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Text at a place of the canvas; anchor 'l', 'c' or 'r'; fit into `width`. */
struct label {
	double x, y, width;
	char anchor;
	int rotate;
	bool bold;
	const char *colour; /* NULL: ink */
};
void script_label(struct script *script, const char *text, struct label label);
void script_rect(struct script *script, double x, double y, double width, double height, struct colour colour);

struct layout {
	double left, right, top, bottom, height; /* of the plot in the canvas, and of the canvas */
	double tick_height, legend_y, column_width;
	size_t legend_columns, legend_count;
	int name_angle; /* 0, 45, 90 */
	size_t name_stride;
	struct axis x, y;
};
void layout_series(struct layout *layout, const struct chart *chart);
void layout_heat(struct layout *layout, const struct chart *chart);
void layout_names(struct layout *layout, const char *const *names, size_t count, double length);
double layout_begin(const struct chart *chart); /* where the plot begins below the title */
void layout_end(struct layout *layout, const struct chart *chart, size_t legend_rows);

/* Title, labels, margins, ticks, grid. */
void frame_write(struct script *script, const struct chart *chart, const struct layout *layout);
void frame_names(struct script *script, const struct layout *layout, const char *const *names, size_t count);
void legend_write(struct script *script, const struct chart *chart, const struct layout *layout);
void series_write(struct script *script, const struct chart *chart, const struct layout *layout);
void heat_write(struct script *script, const struct chart *chart, const struct layout *layout);
/* One chart's commands; file: NULL for SVG on stdout. */
void chart_write(FILE *out, const struct chart *chart, const char *file);

const char *series_dash(size_t index);
int series_shape(size_t index); /* gnuplot's point type */
int series_colour(size_t index);

/* Runs gnuplot in the folder (NULL: here); output: what it wrote, the caller frees. */
int gnuplot_run(const char *script, size_t size, const char *folder, char **output, size_t *output_size,
                struct err *err);
/* One <svg> of gnuplot's as the page's; NULL where it is not as expected. */
char *svg_translate(const char *drawn, size_t size, const struct chart *chart);

#endif
