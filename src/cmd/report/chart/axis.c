/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws an axis: ticks with their grid, or names. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/cmd/report/chart/plot.h"
#include "src/cmd/report/chart/text.h"

enum { NAME_MOST = 130, TICK = 5, TICK_ROW = 26, GAP = 8 };
enum { FLAT = GAP + CANVAS_FONT / 2 }; /* how far below the plot the middle of a level row is */
static const double name_height = CANVAS_FONT * 1.1;

static double widest_name(struct names names) {
	double widest = 0;
	for (size_t i = 0; i < names.count; i++) {
		char *tame = text_tame(names.texts[i]);
		widest = fmax(widest, text_width(tame));
		free(tame);
	}
	return fmin(widest, NAME_MOST);
}

double axis_margin(const struct plot *plot) {
	return plot->y_names.texts ? widest_name(plot->y_names) : scale_widest_label(&plot->y);
}

static void rule_draw(struct plot *plot, int role, struct spot from, struct spot to) {
	drawing_line(plot->drawing, (struct stroke){paint_role(role), 1, NULL});
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

void axis_draw_y(struct plot *plot) {
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

double axis_draw_x(struct plot *plot) {
	return plot->x_names.texts ? names_draw_x(plot) : ticks_draw_x(plot);
}
