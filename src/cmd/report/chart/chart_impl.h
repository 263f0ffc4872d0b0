/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a chart. Each adds its items to the drawing; only the frame decides where the plot is. */
#ifndef SRC_CMD_REPORT_CHART_CHART_IMPL_H
#define SRC_CMD_REPORT_CHART_CHART_IMPL_H

#include "src/cmd/report/chart/chart.h"

/* A scale maps values to places on the canvas, linearly or by their logarithm, and holds the ticks of its axis. */

enum { SCALE_TICKS = 40, SCALE_STEPS = 5 /* the approximate number of steps of a linear y axis */, EXTENT_FEW = 12 };

/* Returns NAN for a value that such a scale cannot show. Extreme values are limited, because sums and ratios of them
 * would overflow. */
double scale_value(double value, bool log);

/* The range of values that a scale has to hold. It starts as EXTENT_NONE. */
struct extent {
	double low, high;       /* low > high: no value so far */
	bool fractions;         /* false: all values are whole numbers */
	double few[EXTENT_FEW]; /* the distinct values in ascending order */
	size_t few_count;       /* more than EXTENT_FEW: not all are listed */
};
#define EXTENT_NONE ((struct extent){.low = 1})
void extent_add(struct extent *extent, double value, bool log);
/* Adds a value that does not deserve its own tick, such as a point on a fitted line. */
void extent_stretch(struct extent *extent, double value, bool log);

struct tick {
	double at;
	char label[32];
};

struct scale {
	double low, high; /* low < high; log: 0 < low */
	bool log;
	double from, to; /* their places on the canvas */
	struct tick ticks[SCALE_TICKS];
	size_t tick_count;
};

/* All of these keep from and to, which say how much room the ticks have. Values are for y axes: linear ones end at
 * ticks, and `zero` includes 0. Positions are for x axes: `air` is the share of the range that is added at both ends. A
 * few whole numbers get a tick each; many of them are marked by powers of two on a logarithmic scale (threads). */
void scale_fit_values(struct scale *scale, struct extent seen, bool log, bool zero);
void scale_fit_positions(struct scale *scale, struct extent seen, bool log, double air);

double scale_share(const struct scale *scale, double value); /* 0 at low, 1 at high */
/* Returns the place on the canvas; a value outside of the scale is at its border. */
double scale_at(const struct scale *scale, double value);

/* Colours have roles. In an SVG a role is a CSS class, so that the page decides between light and dark. */

enum { COLOUR_INK = 1, COLOUR_AXIS, COLOUR_RULE, COLOUR_ABSENT, COLOUR_SERIES = 16, COLOUR_SERIES_COUNT = 7 };
enum { COLOUR_ROLES = COLOUR_SERIES + COLOUR_SERIES_COUNT };

struct paint {
	int role;     /* 0: the colour below, which does not depend on the page */
	unsigned rgb; /* 0xrrggbb */
};
struct paint paint_role(int role);
struct paint paint_rgb(unsigned rgb);
/* Viridis, from 0 to 1: 0xrrggbb; does white contrast more with it than black? */
unsigned colour_map(double share);
bool colour_map_is_dark(double share);

/* Series differ in three ways, so that nobody has to rely on colour. */
enum shape {
	SHAPE_DISC,
	SHAPE_SQUARE,
	SHAPE_UP,
	SHAPE_DIAMOND,
	SHAPE_DOWN,
	SHAPE_CIRCLE,
	SHAPE_BOX,
	SHAPE_UP_OPEN,
	SHAPE_DIAMOND_OPEN,
	SHAPE_DOWN_OPEN,
	SHAPE_CROSS,
	SHAPE_SERIES,             /* the number of shapes for series */
	SHAPE_RING = SHAPE_SERIES /* around the winner */
};
const char *series_dash(size_t index); /* "8,3"; NULL: solid */
enum shape series_shape(size_t index);

/* A drawing collects lines, rectangles, shapes and texts on a canvas as elements of SVG. svg.c writes them and knows
 * nothing about charts. y grows downwards as in SVG. */

enum { CANVAS_WIDTH = 440, CANVAS_FONT = 13 };

struct label {
	double x, y;  /* y is the middle of the line */
	char anchor;  /* x is at the left end, the centre or the right end: 'l', 'c', 'r' */
	double width; /* longer texts are cut; 0: no limit */
	int rotate;   /* degrees, anticlockwise */
	bool bold;
	struct paint paint; /* zero: ink */
};

struct spot {
	double x, y;
};
static inline struct spot spot_at(double x, double y) {
	return (struct spot){.x = x, .y = y};
}

struct look {
	struct paint paint;
	double width;      /* of a line; 0: filled */
	const char *dash;  /* "8,3", a constant; NULL: solid */
	const char *shape; /* its path; NULL: a line or a rectangle */
};

struct drawing {
	FILE *out;
	double height;
	bool coloured; /* colours are inside, because no page defines the roles */
	bool open;     /* a path of that look, which has come to that spot */
	struct look look;
	struct spot at;
};

/* Sets the look of the lines that follow. Consecutive items of the same look become one path. */
void drawing_line(struct drawing *drawing, struct paint paint, double width, const char *dash);
void drawing_move(struct drawing *drawing, double x, double y);
void drawing_to(struct drawing *drawing, double x, double y);
void drawing_rect(struct drawing *drawing, struct paint paint, struct spot corner, struct spot opposite);
void drawing_shape(struct drawing *drawing, struct paint paint, enum shape shape, double x, double y);
void drawing_text(struct drawing *drawing, const char *text, struct label label);

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

/* The x at which it is drawn; NAN if it cannot be shown. */
static inline double chart_x(const struct chart *chart, double x) {
	return scale_value(x == 0 && chart->x_log && chart->x_zero > 0 ? chart->x_zero : x, chart->x_log);
}

void winner_draw(struct plot *plot);
double legend_draw(struct plot *plot, double y); /* returns the first y below it */

/* The texts of a chart come from outside and may be hostile until text_tame has cleaned them. */

/* Returns one well-formed line without characters that XML forbids or that change the direction of the text. The caller
 * frees it. */
char *text_tame(const char *text);
/* Returns an upper estimate in units of the canvas, because the reader's font is not known. */
double text_width(const char *text);
/* Breaks the text into at most `max` lines and returns their number. The caller frees each line. */
size_t text_wrap(const char *text, double width, char **lines, size_t max);

/* The frame around the data, see chart.c. */
double scale_widest_label(const struct scale *scale);
/* Puts the names 0, 1, .. in the middle of equal parts. */
static inline void scale_fit_names(struct scale *scale, size_t count) {
	*scale =
		(struct scale){.low = -0.5, .high = count ? (double)count - 0.5 : 0.5, .from = scale->from, .to = scale->to};
}
void frame_begin(struct plot *plot, double height);
double frame_draw(struct plot *plot);

/* Draw the whole chart and return the first y below it. */
double chart_heat_draw(struct plot *plot);
double chart_series_draw(struct plot *plot);
#endif
