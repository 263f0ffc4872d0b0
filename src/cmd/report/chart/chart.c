/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "src/cmd/report/chart/chart_impl.h"
#include "base/mem.h"

/* The frame of a chart: title, labels and axes. */
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
