/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "src/cmd/report/chart/chart_impl.h"
#include "base/mem.h"

/* The frame of a chart: title, labels and axes; and heat maps. */
enum { NAME_MOST = 130, TICK = 5, TICK_ROW = 26, GAP = 8 };
enum { FLAT = GAP + CANVAS_FONT / 2 }; /* how far below the plot the middle of a level row is */
static const double name_height = CANVAS_FONT * 1.1;

static double widest_name(struct names names) {
	double widest = 0;
	for (size_t i = 0; i < names.count; i++) {
		mem_auto char *tame = text_tame(names.texts[i]);
		widest = fmax(widest, text_width(tame));
	}
	return fmin(widest, NAME_MOST);
}

static double axis_margin(const struct plot *plot) {
	return plot->y_names.texts ? widest_name(plot->y_names) : scale_widest_label(&plot->y);
}

static void rule_draw(struct plot *plot, int role, struct spot from, struct spot to) {
	drawing_line(plot->drawing, paint_role(role), 1, NULL);
	drawing_move(plot->drawing, from.x, from.y);
	drawing_to(plot->drawing, to.x, to.y);
}

/* Names are left out at regular steps if there is not enough room for all. */
static size_t stride_of(double each) {
	return (size_t)fmax(1, ceil(name_height / each));
}

static void names_draw_y(struct plot *plot) {
	double each = (plot->y.from - plot->y.to) / (double)plot->y_names.count;
	for (size_t i = 0; i < plot->y_names.count; i += stride_of(each))
		drawing_text(
			plot->drawing, plot->y_names.texts[i],
			(struct label){plot->x.from - GAP, scale_at(&plot->y, (double)i), .anchor = 'r', .width = NAME_MOST});
}

static void axis_draw_y(struct plot *plot) {
	if (plot->y_names.texts) {
		names_draw_y(plot);
		return;
	}
	for (size_t i = 0; i < plot->y.tick_count; i++) {
		double y = scale_at(&plot->y, plot->y.ticks[i].at);
		rule_draw(plot, COLOUR_RULE, spot_at(plot->x.from, y), spot_at(plot->x.to, y));
	}
	for (size_t i = 0; i < plot->y.tick_count; i++)
		drawing_text(plot->drawing, plot->y.ticks[i].label,
		             (struct label){plot->x.from - GAP, scale_at(&plot->y, plot->y.ticks[i].at), .anchor = 'r'});
}

static double ticks_draw_x(struct plot *plot) {
	double bottom = plot->y.from;
	for (size_t i = 0; i < plot->x.tick_count; i++) {
		double x = scale_at(&plot->x, plot->x.ticks[i].at);
		rule_draw(plot, COLOUR_RULE, spot_at(x, plot->y.to), spot_at(x, bottom));
	}
	for (size_t i = 0; i < plot->x.tick_count; i++) {
		double x = scale_at(&plot->x, plot->x.ticks[i].at);
		rule_draw(plot, COLOUR_AXIS, spot_at(x, bottom), spot_at(x, bottom + TICK));
	}
	for (size_t i = 0; i < plot->x.tick_count; i++)
		drawing_text(plot->drawing, plot->x.ticks[i].label,
		             (struct label){scale_at(&plot->x, plot->x.ticks[i].at), bottom + FLAT, .anchor = 'c'});
	return bottom + TICK_ROW;
}

/* Names stand side by side if they fit, otherwise slanted, otherwise upright. */
static int names_angle(double widest, double each) {
	return widest + 6 <= each ? 0 : each >= CANVAS_FONT * 1.6 ? 45 : 90;
}

static double names_draw_x(struct plot *plot) {
	double each = (plot->x.to - plot->x.from) / (double)(plot->x_names.count ? plot->x_names.count : 1);
	double widest = widest_name(plot->x_names), bottom = plot->y.from;
	size_t stride = stride_of(each);
	int angle = names_angle(widest, each * (double)stride);
	for (size_t i = 0; i < plot->x_names.count; i += stride) {
		double x = scale_at(&plot->x, (double)i) + (angle ? 4 : 0);
		double room =
			angle == 45 ? fmin(NAME_MOST + 2, (x - EDGE) * M_SQRT2) : NAME_MOST + 2; /* the edge of the canvas */
		struct label flat = {x, bottom + FLAT, .anchor = 'c', .width = each * (double)stride},
					 turned = {x, bottom + GAP, .anchor = 'r', .width = room, .rotate = angle};
		drawing_text(plot->drawing, plot->x_names.texts[i], angle ? turned : flat);
	}
	return bottom + (angle == 0 ? TICK_ROW : angle == 45 ? widest * M_SQRT1_2 + 20 : widest + 14);
}

/* Returns the first y below ticks or names. */
static double axis_draw_x(struct plot *plot) {
	return plot->x_names.texts ? names_draw_x(plot) : ticks_draw_x(plot);
}

enum { TITLE_LINES = 3, RIGHT = 16, TICK_AND_GAP = 11, BELOW_TITLE = 8 };
static const double bold_wider = 1.08;

/* Returns the first y below the title. */
static double title_draw(struct drawing *drawing, const char *text) {
	char *lines[TITLE_LINES], *title = text_tame(text);
	size_t count = text_wrap(title, (CANVAS_WIDTH - 2 * EDGE) / bold_wider, lines, TITLE_LINES);
	for (size_t i = 0; i < count; i++) {
		drawing_text(drawing, lines[i],
		             (struct label){EDGE, EDGE + LINE_HEIGHT * ((double)i + 0.5), .anchor = 'l', .bold = true});
		free(lines[i]);
	}
	free(title);
	return EDGE + LINE_HEIGHT * (double)count;
}

static bool is_given(const char *text) {
	return text && *text;
}

/* Draws the title and places the plot below it. The ticks or names of y must be known, because the left edge
 * makes room for them. */
void frame_begin(struct plot *plot, double height) {
	plot->y.to = title_draw(plot->drawing, plot->chart->title) + BELOW_TITLE;
	plot->y.from = plot->y.to + height;
	plot->x.from = EDGE + (is_given(plot->chart->y_label) ? LINE_HEIGHT : 0) + axis_margin(plot) + TICK_AND_GAP;
	plot->x.to = CANVAS_WIDTH - RIGHT;
}

static void label_y_draw(struct plot *plot) {
	double height = plot->y.from - plot->y.to;
	drawing_text(
		plot->drawing, plot->chart->y_label,
		(struct label){EDGE + 6, plot->y.to + height / 2, .anchor = 'c', .width = height + 2 * EDGE, .rotate = 90});
}

static void label_x_draw(struct plot *plot, double y) {
	double middle = (plot->x.from + plot->x.to) / 2, room = 2 * fmin(middle, CANVAS_WIDTH - middle) - EDGE;
	drawing_text(plot->drawing, plot->chart->x_label, (struct label){middle, y, .anchor = 'c', .width = room});
}

/* Draws labels, ticks and grid, and returns the first y below them. */
double frame_draw(struct plot *plot) {
	axis_draw_y(plot);
	if (is_given(plot->chart->y_label))
		label_y_draw(plot);
	double y = axis_draw_x(plot);
	if (!is_given(plot->chart->x_label))
		return y;
	label_x_draw(plot, y + LINE_HEIGHT / 2.0);
	return y + LINE_HEIGHT;
}

/* Ten samples of viridis: van der Walt, Smith: A Better Default Colormap for Matplotlib (SciPy 2015), in the public
 * domain (CC0). Equal steps look equal, also to the colour-blind and in grey. */
static const unsigned viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                   0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};

static unsigned blend(unsigned a, unsigned b, double share, int shift) {
	double from = a >> shift & 0xFF, to = b >> shift & 0xFF;
	return (unsigned)lround(from + (to - from) * share) << shift;
}

/* Colours are rounded to 64 steps, so that neighbouring cells of similar values become one path. */
unsigned colour_map(double share) {
	enum { STEPS = 63, LAST = sizeof(viridis) / sizeof(*viridis) - 1 };
	double place = round(fmin(fmax(share, 0), 1) * STEPS) / STEPS * LAST;
	size_t i = (size_t)fmin(floor(place), LAST - 1);
	unsigned rgb = 0;
	for (int shift = 0; shift <= 16; shift += 8)
		rgb |= blend(viridis[i], viridis[i + 1], place - (double)i, shift);
	return rgb;
}

/* White has the higher contrast on colours below this share, black on those above (WCAG 2.1, relative luminance
 * 0.179). */
bool colour_map_is_dark(double share) {
	return share < 0.44;
}

/* Draws heat maps: a coloured cell for each pair of names, and the scale of the colours below. */
enum { BAR_PARTS = 48, BAR_HEIGHT = 12, CELL_HEIGHT = 26, LEAST_HEIGHT = 160, MOST_HEIGHT = 300, ABOVE_BAR = 8 };
static const char dash[] = "\xE2\x80\x93"; /* not measured */

static struct extent values_extent(const struct chart_heat *heat) {
	struct extent seen = EXTENT_NONE;
	for (size_t i = 0; i < heat->width * heat->height; i++)
		extent_add(&seen, heat->values[i], heat->value_log);
	return seen;
}

/* Returns 0 to 1, or NAN. */
static double share_of(const struct scale *colours, double value) {
	double v = scale_value(value, colours->log);
	return isnan(v) ? NAN : fmin(fmax(scale_share(colours, v), 0), 1);
}

static struct spot cell_corner(const struct plot *plot, size_t i, double side) {
	size_t width = plot->chart->heat->width;
	return spot_at(scale_at(&plot->x, (double)(i % width) + side), scale_at(&plot->y, (double)(i / width) + side));
}

static void cells_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		drawing_rect(plot->drawing, isnan(share) ? paint_role(COLOUR_ABSENT) : paint_rgb(colour_map(share)),
		             cell_corner(plot, i, -0.5), cell_corner(plot, i, 0.5));
	}
}

/* Writes three digits, or a dash if there is no value. */
static void value_write(char text[32], double value) {
	if (fabs(value) >= 1e-3 && fabs(value) < 1e5)
		snprintf(text, 32, "%.*f", (int)fmax(0, 2 - floor(log10(fabs(value)))), value);
	else
		snprintf(text, 32, "%.3g", value);
	if (!isfinite(value))
		snprintf(text, 32, "%s", dash);
}

static bool values_fit(const struct chart_heat *heat, double cell_width, double cell_height) {
	double widest = 0;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		char text[32];
		value_write(text, heat->values[i]);
		widest = fmax(widest, text_width(text));
	}
	return cell_height >= CANVAS_FONT * 1.2 && widest + 4 <= cell_width;
}

static void values_draw(struct plot *plot, const struct scale *colours) {
	const struct chart_heat *heat = plot->chart->heat;
	double cell_width = (plot->x.to - plot->x.from) / (double)heat->width;
	double cell_height = (plot->y.from - plot->y.to) / (double)heat->height;
	if (!values_fit(heat, cell_width, cell_height))
		return;
	for (size_t i = 0; i < heat->width * heat->height; i++) {
		double share = share_of(colours, heat->values[i]);
		struct spot middle = cell_corner(plot, i, 0);
		char text[32];
		value_write(text, heat->values[i]);
		struct paint paint = paint_rgb(colour_map_is_dark(share) ? 0xffffff : 0x010101);
		drawing_text(
			plot->drawing, text,
			(struct label){middle.x, middle.y, .anchor = 'c', .paint = isnan(share) ? paint_role(COLOUR_INK) : paint});
	}
}

/* Each part reaches to the right end, because adjacent rectangles would show seams. */
static double colours_draw(struct plot *plot, const struct scale *colours, double y) {
	double left = colours->from, right = colours->to, middle = (left + right) / 2;
	y += ABOVE_BAR;
	for (int i = 0; i < BAR_PARTS; i++)
		drawing_rect(plot->drawing, paint_rgb(colour_map((i + 0.5) / BAR_PARTS)),
		             spot_at(left + (right - left) * i / BAR_PARTS, y), spot_at(right, y + BAR_HEIGHT));
	y += BAR_HEIGHT + 2;
	for (size_t i = 0; i < colours->tick_count; i++)
		drawing_text(plot->drawing, colours->ticks[i].label,
		             (struct label){scale_at(colours, colours->ticks[i].at), y + LINE_HEIGHT / 2.0, .anchor = 'c'});
	y += LINE_HEIGHT;
	drawing_text(plot->drawing, plot->chart->heat->value_label,
	             (struct label){middle, y + LINE_HEIGHT / 2.0, .anchor = 'c',
	                            .width = 2 * fmin(middle, CANVAS_WIDTH - middle) - EDGE});
	return plot->chart->heat->value_label ? y + LINE_HEIGHT : y;
}

static void heat_fit(struct plot *plot) {
	const struct chart_heat *heat = plot->chart->heat;
	plot->x_names = (struct names){heat->x_names, heat->width};
	plot->y_names = (struct names){heat->y_names, heat->height};
	frame_begin(plot, fmin(fmax(CELL_HEIGHT * (double)heat->height, LEAST_HEIGHT), MOST_HEIGHT));
	scale_fit_names(&plot->x, heat->width);
	scale_fit_names(&plot->y, heat->height);
}

/* draws the whole chart and returns the first y below it */
double chart_heat_draw(struct plot *plot) {
	struct extent seen = values_extent(plot->chart->heat);
	heat_fit(plot);
	struct scale colours = {.from = plot->x.from, .to = plot->x.to};
	scale_fit_exactly(&colours, seen, plot->chart->heat->value_log);
	cells_draw(plot, &colours);
	values_draw(plot, &colours);
	winner_draw(plot);
	double y = frame_draw(plot);
	if (seen.low <= seen.high)
		y = colours_draw(plot, &colours, y);
	return legend_draw(plot, y);
}
